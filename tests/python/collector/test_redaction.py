"""Test that secrets are removed from texts in every spelling that a service may echo."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from collector import redaction
from collector.errors import TargetError
from collector.files.plain import read_plain
from collector.redaction import KEY_PLACEHOLDER, Redactor, environment_key

SECRET = "sk-live/Ab+9=x&y\"z~Q'0123456789"
VARIABLE = "BIASLEDGER_TEST_KEY"


@pytest.fixture
def redact(monkeypatch: pytest.MonkeyPatch) -> Redactor:
    monkeypatch.setenv(VARIABLE, SECRET)
    return Redactor([VARIABLE])


def basic(user: str) -> str:
    return base64.b64encode(f"{user}:{SECRET}".encode()).decode()


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub(r"%..", lambda code: code[0].lower(), quote(SECRET, safe="")),
        json.dumps(SECRET),
        json.dumps(json.dumps(SECRET)),
        json.dumps(SECRET).replace("/", "\\/"),
        "".join(f"\\u{ord(character):04x}" for character in SECRET),
        "".join(f"\\u{ord(character):04X}" if character in "/+=" else character for character in SECRET),
        json.dumps(SECRET).replace("/", "\\/").replace("+", "\\u002b"),
        "".join(f"\\\\u{ord(one):04x}" for one in SECRET),
        json.dumps(json.dumps("".join(f"\\u{ord(one):04x}" for one in SECRET))),
        html.escape(SECRET),
        repr(SECRET),
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        basic(""),
        basic("u"),
        basic("me"),
        basic("someone"),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        quote(quote(SECRET, safe=""), safe=""),
        "".join(f"&#{ord(character)};" for character in SECRET),
        "".join(f"&#x{ord(character):X};" for character in SECRET),
        "".join(f"&#{ord(character):05d};" if character.isdigit() else character for character in SECRET),
        "".join(
            (character, f"%{ord(character):02x}", f"&#{ord(character)};", f"\\u{ord(character):04x}")[
                place % 4
            ]
            for place, character in enumerate(SECRET)
        ),
        SECRET[::-1],
        SECRET.encode().hex().upper(),
        base64.b32encode(SECRET.encode()).decode(),
        base64.b32encode(SECRET.encode()).decode().lower(),
        "".join(f"&#{ord(character):010d};" for character in SECRET),
        "".join(f"&#X{ord(character):010x};" for character in SECRET),
        *(base64.b32encode(f"{'u' * n}:{SECRET}".encode()).decode() for n in range(5)),
    ],
)
def test_every_spelling_is_cut_out(redact: Redactor, spelled: str) -> None:
    text = f"before {spelled} after"
    cleaned = redact(text)
    assert KEY_PLACEHOLDER in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    # The rest of the text next to the placeholder is too short to recover the secret.
    assert len(cleaned) < len("before  after") + len(KEY_PLACEHOLDER) + 16


@pytest.mark.parametrize("secret", ["abcdefgh", "sk-0123456789abc", SECRET, "x" * 200])
def test_base32_of_any_length_in_any_place(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, secret)
    for before in range(6):
        for after in range(6):
            coded = base64.b32encode(b"a" * before + secret.encode() + b"z" * after).decode()
            cleaned = Redactor([VARIABLE])(coded)
            assert KEY_PLACEHOLDER in cleaned
            # A character at either end may hold bits of the key and of the text next to it.
            assert len(cleaned) <= len(KEY_PLACEHOLDER) + (before + after) * 8 // 5 + 10


@pytest.mark.parametrize("form", ["%{:02x}", "%{:02X}", "&#{};", "&#x{:x};", "&#X{:04X};", "\\u{:04x}"])
@pytest.mark.parametrize("secret", ["sk-live-0123456789abcdef", SECRET, "zap%&#49;\\u0041 and more"])
def test_any_character_may_be_escaped(secret: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, secret)
    for places in ({0}, {len(secret) - 1}, {3, 5}, set(range(len(secret)))):
        spelled = "".join(
            form.format(ord(character)) if place in places else character
            for place, character in enumerate(secret)
        )
        assert Redactor([VARIABLE])(f"100% of <{spelled}>") == f"100% of <{KEY_PLACEHOLDER}>"


@pytest.mark.parametrize("before", ["100%", "&#", "&#x", "\\u", "\\u0", "%4", "\\"])
@pytest.mark.parametrize("secret", ["41abcdefgh", "0041;abcdefgh", '11/5abcdefg"h'])
def test_half_an_escape_before_a_key_hides_none_of_it(
    secret: str, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, secret)
    for form in ("%{:02x}", "\\u{:04x}", "&#{};"):
        spelled = secret[:-1] + form.format(ord(secret[-1]))
        assert Redactor([VARIABLE])(f"{before}{spelled}.") in (
            f"{before}{KEY_PLACEHOLDER}.",
            f"{before.removesuffix(chr(92))}{KEY_PLACEHOLDER}.",
        )


def test_a_value_that_is_no_utf8_is_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    value = os.fsdecode(b"caf\xe9-0123456789")
    monkeypatch.setenv(VARIABLE, value)
    redact = Redactor([VARIABLE])
    assert redact(f"100% {value} &") == f"100% {KEY_PLACEHOLDER} &"
    assert redact(f"{os.fsencode(value).hex()} caf%E9-0123456789") == f"{KEY_PLACEHOLDER} {KEY_PLACEHOLDER}"
    assert redact("\\u0041 &#65; %41") == "\\u0041 &#65; %41"


def test_texts_without_a_key_are_not_searched_character_by_character(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pattern takes far longer than the rest, so it runs only on texts that may contain the key."""
    secret = "sk-live/0123456789+abc"
    monkeypatch.setenv(VARIABLE, secret)
    tried: list[str] = []
    monkeypatch.setattr(redaction, "_escaped", tried.append)
    for text in ("plain", json.dumps('Grüße: жизнь\n"/'), "100 % & <b>&#228;</b> %C3%A4", secret):
        Redactor([VARIABLE])(text)
    assert not tried


def names(tmp_path: Path, text: str) -> set[str]:
    path = tmp_path / "targets.yml"
    path.write_text(text)
    return set(redaction._variables_named_in(path))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("targets: {x: {api_key_env: A_KEY, model: gpt-4o-mini}}", {"A_KEY"}),
        ("targets:\n  HOME:\n    api_key_env: A_KEY\n    model: m\n", {"A_KEY"}),
        ('{"targets": {"x": {"api_key_env": "A_KEY", "model": "m"}}}', {"A_KEY"}),
        ("x: {secret_env: [A_KEY,\n  'B_KEY'], model: m}", {"A_KEY", "B_KEY"}),
        ("x:\n  secret_env:\n    - A_KEY # old\n    - 'B_KEY'\n  model: m\n", {"A_KEY", "B_KEY"}),
        ("- secret_env:\n  - A_KEY\n- model: m\n  api_key_env:\n    B_KEY\n", {"A_KEY", "B_KEY"}),
        ("x: [api_key_env: A_KEY  # HOME", {"A_KEY"}),
        ("headers: {Authorization: 'Bearer ${A_KEY}'}", {"A_KEY"}),
        ("base_url: ${OPENAI_BASE_URL}/v1\napi_key_env: A_KEY", {"A_KEY"}),
        ("url: 'https://host/?key=${A_KEY}'", {"A_KEY"}),
        ("x: {secret_env: [HOME, PATH, USER, PWD, A_KEY]}", {"A_KEY"}),
        ("model: gpt\nparameters: {A_KEY: 1}\n# api_key_env: A_KEY", set()),
    ],
)
def test_variables_that_a_targets_file_names_for_keys(tmp_path: Path, text: str, named: set[str]) -> None:
    assert names(tmp_path, text) == named


def test_a_targets_file_is_read_again_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def noted(path: Path, most: int) -> bytes:
        read.append(path)
        return read_plain(path, most)

    monkeypatch.setattr(redaction, "read_plain", noted)
    assert names(tmp_path, "api_key_env: A_KEY") == {"A_KEY"}
    for _ in range(3):
        assert set(redaction._variables_named_in(tmp_path / "targets.yml")) == {"A_KEY"}
    assert len(read) == 1
    assert names(tmp_path, "api_key_env: OTHER_KEY") == {"OTHER_KEY"}


def test_what_is_promised_and_what_is_not() -> None:
    """The list in the documentation equals the list in the module's docstring."""
    promised = " ".join((redaction.__doc__ or "").split())
    message = " ".join(
        (Path(__file__).parents[3] / "docs" / "targets.md").read_text(encoding="utf-8").split()
    )
    for form in ("percent-encoded", "base64", "base32", "hexadecimal", "backwards", "HTML", "JSON"):
        assert form in promised
        assert form in message


def test_other_text_stays_as_it_is(redact: Redactor) -> None:
    text = 'sk-live is a prefix; \\u0041 and \\ud800 too. {"a": "b"} 日本 \x00'
    assert redact(text) == text
    assert redact.optional(None) is None
    assert Redactor()(SECRET) == SECRET


@pytest.mark.parametrize("value", ["", "x", "EMPTY", "ollama"])
def test_a_value_too_short_for_a_secret_changes_no_answer(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert Redactor([VARIABLE])("EMPTY x ollama") == "EMPTY x ollama"


def test_of_two_secrets_both_are_cut_out(redact: Redactor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASLEDGER_OTHER_KEY", "another-secret-42")
    both = Redactor([VARIABLE, "BIASLEDGER_OTHER_KEY", "BIASLEDGER_NOT_SET_ANYWHERE"])
    assert both(f"{SECRET} another-secret-42") == f"{KEY_PLACEHOLDER} {KEY_PLACEHOLDER}"


def test_an_object_that_redacts_does_not_hold_the_secret(redact: Redactor) -> None:
    assert SECRET not in repr(vars(redact))


def test_addresses_in_logs_of_the_library_are_cleaned(
    redact: Redactor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3.connectionpool").debug('"GET %s HTTP/1.1" %s', f"/v1?key={quote(SECRET)}", 200)
    assert f"/v1?key={KEY_PLACEHOLDER}" in caplog.text
    assert quote(SECRET) not in caplog.text


@pytest.mark.parametrize("value", ["with space", "with\nbreak", "with\u201cquotes\u201d", "tab\there"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(TargetError, match=f"mine cannot use the key in {VARIABLE}") as caught:
        environment_key("mine", VARIABLE)
    assert caught.value.stops_run
    assert "with" not in str(caught.value)


def test_white_space_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f" {SECRET}\n")
    assert environment_key("mine", VARIABLE) == SECRET
    assert Redactor([VARIABLE])(SECRET) == KEY_PLACEHOLDER
