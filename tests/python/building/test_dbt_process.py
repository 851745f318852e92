"""Test the process that runs dbt and the messages that a build takes from it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest
from dbt.cli import main

from biasledger.building import INCREMENTAL, LINE_PREFIX, dbt_process, running
from biasledger.building.running import BuildError
from biasledger.model_inputs.progress import progress_callbacks, report_progress


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has a program run in place of dbt's process, in a project without parsed state."""
    monkeypatch.setattr(running, "subprocess", subprocess)
    monkeypatch.setattr(running, "parsed_before", lambda *_, **__: nullcontext())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "target").mkdir()

    def replace(program: str) -> None:
        (tmp_path / "other_process.py").write_text(program, encoding="utf-8")
        monkeypatch.setattr(running, "_PROCESS", "other_process")

    return replace


def sentence(name: str, message: str, level: str = "info", **data: Any) -> Any:
    return SimpleNamespace(
        info=SimpleNamespace(name=name, level=level, msg=message), data=SimpleNamespace(**data)
    )


def test_steps_and_errors_are_heard_and_what_models_print_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    events = dbt_process.DbtEvents()
    node = SimpleNamespace(node_name="fct_findings")
    events(sentence("LogModelResult", "1 of 9 OK", node_info=node, total=9))
    events(sentence("Note", "nothing that stops anybody"))
    events(sentence("Secret", "looked into", "debug"))
    assert not events.has_reported_error
    events(sentence("MainEncounteredError", "It broke.\n", "error"))
    assert events.has_reported_error
    printed = ['{"level": "error", "message": {"of": "a model"}}', "5", "", "Killed"]
    lines = capsys.readouterr().out + "\n".join(printed)
    assert "looked into" not in lines
    steps: list[tuple[int, int, str]] = []
    messages, others = running._follow(io.StringIO(lines), lambda *step: steps.append(step))
    assert steps == [(1, 9, "fct_findings")]
    assert messages == ["It broke."]
    assert others == [printed[0], "5", "Killed"]


def test_what_is_being_done_is_said_until_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    events = dbt_process.DbtEvents()
    events.report_nodes_in_progress()
    for name in ("int_words_divergences", "int_lists_spreads"):
        events(sentence("LogStartLine", "START", node_info=SimpleNamespace(node_name=name)))
    progress_callbacks.append(events.note)
    try:
        begun = report_progress("int_words_divergences", ["a", "b"], 2)
        assert [next(begun), next(begun)] == ["a", "b"]
    finally:
        progress_callbacks.remove(events.note)
    events.report_nodes_in_progress()
    done = SimpleNamespace(node_name="int_words_divergences")
    events(sentence("LogModelResult", "1 of 9 OK", node_info=done, total=9))
    events.report_nodes_in_progress()
    steps: list[tuple[int, int, str]] = []
    told = running._follow(io.StringIO(capsys.readouterr().out), lambda *step: steps.append(step))
    assert told == ([], [])
    assert [step[:2] for step in steps] == [(0, 0), (1, 9), (1, 9)]
    first, _, last = (re.sub(r", [\d.]+ GiB$", "", name) for *_, name in steps)
    assert first == "none; now int_words_divergences (comparison 2 of 2), int_lists_spreads"
    assert last == "int_words_divergences; now int_lists_spreads"


def test_dbt_ends_with_an_interrupted_build(
    tmp_path: Path, process: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    process("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    started: list[int] = []

    def interrupted(lines: IO[str], _: running.OnStep) -> list[str]:
        started.append(int(lines.readline()))
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_follow", interrupted)
    with pytest.raises(KeyboardInterrupt), running.Dbt(tmp_path) as dbt:
        dbt.run(["build"], {}, lambda *_: None, methods=["words"])
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


@pytest.mark.parametrize(("code", "messages"), [(0, []), (1, ["leaked 27 instances"])])
def test_what_a_library_says_as_dbt_ends_is_an_error_only_where_dbt_failed(
    code: int, messages: list[str], tmp_path: Path, process: Callable[[str], None]
) -> None:
    process(
        f"""
import sys
from pathlib import Path
sys.stdin.readline()
Path("target/run_results.json").write_text("{{}}")
print("leaked 27 instances")
sys.exit({code})
"""
    )
    with running.Dbt(tmp_path) as dbt:
        assert dbt.run(["build"], {}, lambda *_: None, methods=["words"]) == messages


def test_dbt_ends_where_a_build_asks_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "subprocess", subprocess)
    with running.Dbt(tmp_path) as dbt:
        assert dbt._process.poll() is None
    assert dbt._process.returncode is not None


def test_dbt_ends_with_a_build_that_is_killed(tmp_path: Path) -> None:
    """A work file that stays locked until everything is built would block the next build."""
    beginning = """
        import sys
        from pathlib import Path
        from biasledger.building import running
        running._PROCESS = "working"
        with running.Dbt(Path()) as dbt:
            dbt.run(["build"], {}, lambda *_: None, methods=["words"])
    """
    working = """
        import threading
        import sys
        from biasledger.building import dbt_process
        def run(*_):
            with open("sentence", "w") as pipe:
                print("begun", file=pipe, flush=True)
                threading.Event().wait()
        dbt_process.run = run
        sys.exit(dbt_process.main())
    """
    (tmp_path / "working.py").write_text(textwrap.dedent(working), encoding="utf-8")
    (tmp_path / "target").mkdir()
    os.mkfifo(tmp_path / "sentence")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    build = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(beginning)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    with (tmp_path / "sentence").open(encoding="utf-8") as sentence:
        assert sentence.readline() == "begun\n"
        build.kill()
        build.wait()
        # It is closed when dbt's process ends.
        assert sentence.read() == ""


def test_what_may_be_kept_is_not_the_shell_s_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (INCREMENTAL, "DBT_HOST"):
        monkeypatch.setenv(name, "yes")
    assert {INCREMENTAL, "DBT_HOST"} & set(running._environment()) == {"DBT_HOST"}


def test_options_of_dbt_are_not_taken_from_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = (main.cli, main.cli.commands["build"])
    given = [option.envvar or () for one in commands for option in one.params]
    envvars = {name for names in given for name in ([names] if isinstance(names, str) else names)}
    assert {"DBT_EMPTY", "DBT_ENGINE_EXCLUDE_RESOURCE_TYPES", "DBT_TARGET"} < envvars
    for name in (*envvars, "DBT_PASSWORD", "QUIET"):
        monkeypatch.setenv(name, "1")
    assert running.ignored_variables() == sorted(envvars)
    assert not envvars & set(running._environment())
    assert {"DBT_PASSWORD", "QUIET"} < set(running._environment())


def test_what_breaks_dbt_while_it_begins_is_said(tmp_path: Path, process: Callable[[str], None]) -> None:
    process("import no_such_module")
    with running.Dbt(tmp_path) as dbt:
        dbt._process.wait()
        with pytest.raises(BuildError, match=r"dbt could not build: .*No module named 'no_such_module'"):
            dbt.run(["build"], {}, lambda *_: None, methods=["words"])


def test_secrets_of_the_environment_are_not_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_TOKEN", "tea-and-toast")
    dbt_process.DbtEvents()(sentence("Note", "cannot open s3://tea-and-toast@bucket", "error"))
    line = capsys.readouterr().out
    assert json.loads(line.removeprefix(LINE_PREFIX)) == {
        "level": "error",
        "message": "cannot open s3://*****@bucket",
    }
