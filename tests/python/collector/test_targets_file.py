"""Test targets.yml: its keys, refused files, and secrets that must not be in a file."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import collector.targets
from collector.errors import InputError
from collector.targets import kinds, load_target, load_targets
from collector.targets.openai import OpenAITarget

Write = Callable[[str], Path]
SECRET = "sk-abcdef0123456789"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_targets(text: str) -> Path:
        path = tmp_path / "targets.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_targets


def endpoint_with(line: str) -> str:
    return f"targets:\n  mine:\n    kind: openai\n    base_url: http://127.0.0.1:1/v1\n    model: m\n    {line}\n"


def http_with(line: str, url: str = "https://host") -> str:
    return f"targets:\n  mine:\n    kind: http\n    url: {url}\n    secret_env: A_KEY\n    {line}\n"


def problem(path: Path, name: str = "mine") -> str:
    with pytest.raises(InputError) as caught:
        load_target(path, name)
    message = str(caught.value)
    assert str(path) in message
    assert SECRET not in message
    return message


def test_the_shipped_targets(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository / "targets.yml"
    biased, fair = load_target(path, "simulator"), load_target(path, "simulator-fair")
    assert (biased.kind, biased.is_simulated, fair.is_simulated) == ("simulator", True, True)
    assert biased.parameters["steer"]["Asian"] > 0
    assert fair.parameters["steer"] == {}
    monkeypatch.setenv("MY_ENDPOINT_API_KEY", SECRET)
    endpoint = load_target(path, "my-endpoint")
    assert isinstance(endpoint, OpenAITarget)
    assert (endpoint.model, endpoint.concurrency, endpoint.is_simulated) == ("my-model", 8, False)
    assert endpoint.parameters["temperature"] == 1.0
    assert SECRET not in repr(endpoint) + repr(vars(endpoint)) + repr(endpoint.parameters)


@pytest.mark.parametrize(("at", "text"), [
    ("api_key", endpoint_with(f"api_key: {SECRET}")),
    ("API-Key", endpoint_with(f"API-Key: {SECRET}")),
    ("token", endpoint_with(f"token: {SECRET}")),
    ("password", endpoint_with(f"password: {SECRET}")),
    ("parameters.api_key", endpoint_with(f"parameters: {{api_key: {SECRET}}}")),
    ("parameters.headers.Authorization", endpoint_with(f"parameters: {{headers: {{Authorization: Bearer {SECRET}}}}}")),
    ("parameters.user", endpoint_with(f"parameters: {{user: {SECRET}}}")),
    ("api_key_env", endpoint_with(f"api_key_env: {SECRET}")),
    ("base_url", f"targets:\n  mine: {{kind: openai, base_url: 'https://me:{SECRET}@host/v1', model: m}}\n"),
    ("base_url", f"targets:\n  mine: {{kind: openai, base_url: 'https://host/v1?key={SECRET}', model: m}}\n"),
    ("base_url", f"targets:\n  mine: {{kind: openai, base_url: 'https://host/v1?a=b&api_key={SECRET}', model: m}}\n"),
    ("headers.X-Auth-Token", http_with("headers: {X-Auth-Token: abcdefgh}")),
    ("headers.Ocp-Apim-Subscription-Key", http_with("headers: {Ocp-Apim-Subscription-Key: abcdefgh}")),
    ("headers.Cookie", http_with("headers: {Cookie: session=abcdefgh}")),
    ("headers.X-Me", http_with("headers: {X-Me: Bearer sk-ant-api03-abcdefgh}")),
    # A variable does not hide a secret next to it.
    ("headers.Authorization", http_with("headers: {Authorization: '${A_KEY}x'}")),
    ("headers.Authorization", http_with("headers: {Authorization: 'x${A_KEY}'}")),
    ("headers.Authorization", http_with("headers: {Authorization: 'Bearer abcdefgh ${A_KEY}'}")),
    ("body.api_key", http_with("""body: '{"q": "{prompt}", "seed": {seed}, "api_key": "abcdefgh"}'""")),
    ("body.auth[0].token", http_with("""body: '{"q": "{prompt}", "auth": [{"token": "abcdefgh"}]}'""")),
    ("body.key", http_with("body: 'q={prompt}&key=abcdefgh'")),
])  # fmt: skip
def test_secrets_are_refused_and_never_shown(write: Write, at: str, text: str) -> None:
    message = problem(write(text))
    assert f"targets.mine.{at} looks like a secret" in message
    assert "api_key_env" in message
    assert "abcdefgh" not in message


def test_a_text_that_is_nested_deeply_is_a_text(write: Write) -> None:
    assert "the key targets.mine.nested is unknown" in problem(
        write(endpoint_with(f"nested: '{'[' * 2_000}'"))
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            http_with(
                "headers: {Idempotency-Key: one}\n"
                """    body: '{"key": "{prompt}", "token": "${A_KEY}", "eos_token": "</s>", "seed": {seed}, """
                """"q": "risk-taking"}'"""
            ),
            {"headers": {"Idempotency-Key": "one"}},
        ),
        *(
            (
                http_with(f"headers: {{{name}: '{value}'}}\n    body: '[\"{{prompt}}\"]'"),
                {"headers": {name: value}},
            )
            for name, value in [
                ("Cookie", "session=${A_KEY}"),
                ("Authorization", "${A_KEY}"),
                ("Authorization", "Bearer ${A_KEY}"),
                ("Authorization", "Api-Key ${A_KEY}"),
            ]
        ),
        (
            http_with("body: '[\"{prompt}\"]'", url="https://host/v1?token=${A_KEY}"),
            {"url": "https://host/v1?token=${A_KEY}"},
        ),
        (
            http_with("""body: '{"tenant": ${A_KEY}, "q": "{prompt}"}'"""),
            {"body": '{"tenant": ${A_KEY}, "q": "{prompt}"}'},
        ),
        (
            http_with(
                """body: '{"use_token": false, "page_token": null, "max_token": 5, "token": "a-{trial}", """
                """"q": "{prompt}${A_KEY}"}'"""
            ),
            {},
        ),
        (
            http_with(
                "model: llama-3-sk-instruct-8b-2026-05\n    body: '[\"{prompt} ${A_KEY}\"]'",
                url="http://sk-gateway",
            ),
            {"url": "http://sk-gateway"},
        ),
        (endpoint_with("parameters: {max_tokens: 100, top_k: 3}"), {"max_tokens": 100, "top_k": 3}),
    ],
)
def test_what_only_resembles_a_secret_is_allowed(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, expected: dict[str, Any]
) -> None:
    monkeypatch.setenv("A_KEY", "12345678")
    parameters = load_target(write(text), "mine").parameters
    assert expected.items() <= parameters.items()
    assert "12345678" not in repr(parameters)


def test_a_variable_with_digits_is_named(write: Write) -> None:
    assert "AI21_API_KEY, which is not set" in problem(write(endpoint_with("api_key_env: AI21_API_KEY")))


@pytest.mark.parametrize("name", ["a81f3c9d2b7e4f5a96c0d1e2f3a4b5c6", "A81F3C9D2B7E4F5A96C0D1E2F3A4B5C6"])
def test_a_key_in_place_of_a_variable_s_name_is_not_shown(write: Write, name: str) -> None:
    message = problem(write(endpoint_with(f"api_key_env: {name}")))
    assert "targets.mine.api_key_env names an environment variable that is not set" in message
    assert name not in message


@pytest.mark.parametrize(("text", "sentence"), [
    ("targets: {}\n", "targets is empty"),
    ("target: {}\n", "the key target is unknown; did you mean 'targets'?"),
    ("targets: {minne: {kind: simulator}}\n", "has no target 'mine'; did you mean 'minne'?"),
    ("targets: {mine: simulator}\n", "targets.mine should be a mapping with at least the key kind"),
    ("targets: {mine: {seed: 1}}\n", "targets.mine.kind is missing"),
    ("targets: {mine: {kind: simulater}}\n", "is no known kind; did you mean 'simulator'?"),
    ("targets: {mine: {kind: simulator, sed: 1}}\n", "the key targets.mine.sed is unknown; did you mean 'seed'?"),
    ("targets: {mine: {kind: simulator, steer: {A: 1.5}}}\n", "targets.mine.steer.A is 1.5: input should be less"),
    ("targets: {mine: {kind: simulator, steer: {A: no}}}\n", "targets.mine.steer.A should be a number and is false"),
    ("targets: {mine: {kind: simulator, refuse_about: {A: 1.5}}}\n", "targets.mine.refuse_about.A is 1.5"),
    ("targets: {mine: {kind: simulator, shorten: {A: 1.5}}}\n", "targets.mine.shorten.A is 1.5"),
    ("targets: {mine: {kind: simulator, repeat: {A: 1.5}}}\n", "targets.mine.repeat.A is 1.5"),
    ("targets: {mine: {kind: simulator, price: {A: -1.5}}}\n", "targets.mine.price.A is -1.5"),
    ("targets: {mine: {kind: simulator, word_noise: 2}}\n", "targets.mine.word_noise is 2"),
    ("targets: {mine: {kind: simulator, favour: {A: {bars: 1.5}}}}\n", "targets.mine.favour.A.bars is 1.5"),
    ("targets: {mine: {kind: simulator, favour: {A: 0.5}}}\n", "targets.mine.favour.A should be a mapping"),
    ("targets: {mine: {kind: simulator, favour: {A: {desert: 0.5}}}}\n",
     "names the category 'desert' for 'A', which no restaurant of the simulator has; did you mean 'desserts'?"),
    ("targets: {mine: {kind: simulator, gender: {A: 1.5}}}\n", "targets.mine.gender.A is 1.5"),
    ("targets: {mine: {kind: simulator, associate: {A: {zebra: -1}}}}\n", "targets.mine.associate.A.zebra is -1"),
    ("targets: {mine: {kind: simulator, associate: {A: zebra}}}\n", "targets.mine.associate.A should be a mapping"),
    ("targets: {mine: {kind: simulator, malformed: 0.7, refused: 0.7}}\n", "add up to more than 1"),
    ("targets: {mine: {kind: openai, model: m}}\n", "the key targets.mine.base_url is missing"),
    ("targets: {mine: {kind: openai, base_url: 'x', model: m}}\n", "should be an address such as https://host/v1"),
    ("targets: {mine: {kind: openai, base_url: 'ftp://x', model: m}}\n", "should be an address such as"),
    ("targets: {mine: {kind: openai, base_url: 'http://x?a=b', model: m}}\n", "an address without ? and #"),
    (endpoint_with("concurrency: 0"), "targets.mine.concurrency is 0"),
    (endpoint_with("timeout_seconds: soon"), "targets.mine.timeout_seconds should be a number and is 'soon'"),
    (endpoint_with("parameters: {seed: 1}"), "cannot hold 'seed': one seed would give every trial the same answer"),
    (endpoint_with("parameters: {messages: []}"), "cannot hold 'messages': they come from the audit"),
    (endpoint_with("api_key_env: MY KEY"), "should be the name of an environment variable, not the key itself"),
    (endpoint_with("api_key_env: NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE, which is not set"),
])  # fmt: skip
def test_wrong_targets_get_a_hint(write: Write, text: str, sentence: str) -> None:
    assert sentence in problem(write(text))


def test_a_whole_number_is_a_share(write: Write) -> None:
    path = write("targets: {mine: {kind: simulator, repeat: {Veuillez: 1}}}\n")
    assert repr(load_target(path, "mine").parameters["repeat"]) == "{'Veuillez': 1.0}"


def test_a_name_that_cannot_be_part_of_a_run(write: Write) -> None:
    path = write("targets: {'My Model': {kind: simulator}}\n")
    assert "should be named with lower-case letters" in problem(path, "My Model")


def test_an_absent_file(tmp_path: Path) -> None:
    assert "does not exist" in problem(tmp_path / "targets.yml")


def test_every_kind_is_a_module_with_settings_and_a_builder() -> None:
    found = kinds()
    assert set(found) == {"anthropic", "gemini", "http", "lmrec", "openai", "python", "replay", "simulator"}
    for kind, module in found.items():
        assert module.Settings.model_fields["kind"].annotation == Literal[kind]
        assert list(inspect.signature(module.build).parameters)[:2] == ["name", "settings"]


def test_a_new_kind_is_a_file_of_its_own(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "parrot.py").write_text(
        "from typing import Literal\n\n"
        "from collector.targets import replay\n"
        "from collector.validation import Section\n\n"
        "KIND = 'parrot'\n\n\n"
        "class Settings(Section):\n    kind: Literal['parrot']\n    says: str\n\n\n"
        "def build(name, settings, folder):\n"
        "    file = replay.Settings(kind='replay', file=settings.says)\n"
        "    return replay.Replay(name, file, {}, str(folder))\n"
    )
    monkeypatch.setattr(collector.targets, "__path__", [*collector.targets.__path__, str(folder)])
    path = write("targets: {mine: {kind: parrot, says: hello}}\n")
    assert load_target(path, "mine").parameters == {"file": "hello", "file_hash": str(tmp_path)}
    sys.modules.pop("collector.targets.parrot")


def test_several_targets_are_read_before_any_is_asked(write: Write) -> None:
    path = write("targets: {a: {kind: simulator}, b: {kind: simulator, sed: 1}, c: {kind: simulator}}\n")
    assert [target.name for target in load_targets(path, ["c", "a"])] == ["c", "a"]
    for names, sentence in (
        (["a", "b"], "the key targets.b.sed is unknown"),
        (["a", "d"], "has no target 'd'"),
        (["a", "a"], "The target 'a' is named twice"),
        (["a", ""], "No target is named"),
        ([], "No target is named"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            load_targets(path, names)


def test_the_value_of_a_key_under_another_name_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "0123456789abcdef")
    message = problem(write(endpoint_with("parameters: {user: 0123456789abcdef}\n    api_key_env: A_KEY")))
    assert "targets.mine holds the value of A_KEY" in message
    assert "0123456789abcdef" not in message


def test_a_key_that_no_header_can_carry(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "two words")
    message = problem(write(endpoint_with("api_key_env: A_KEY")))
    assert "targets.mine.api_key_env names A_KEY, whose value holds a space" in message
    assert "two words" not in message


def test_a_key_that_a_vendor_needs_has_a_usual_name(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY")):
        path = write(f"targets: {{mine: {{kind: {kind}, model: m}}}}\n")
        monkeypatch.delenv(variable, raising=False)
        assert f"names the environment variable {variable}, which is not set; set it." in problem(path)
        monkeypatch.setenv(variable, SECRET)
        assert load_target(path, "mine").kind == kind


@pytest.mark.parametrize("value", [".nan", "2026-01-01", ".inf"])
def test_parameters_are_what_json_knows(write: Write, value: str) -> None:
    assert "should hold what JSON knows" in problem(write(endpoint_with(f"parameters: {{a: {value}}}")))
