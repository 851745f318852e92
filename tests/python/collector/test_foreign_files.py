"""Test files that others named or made: a spec reads only its own project, and no file makes it wait or grow without bound."""

from __future__ import annotations

import gzip
import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.comparing import baseline_file
from biasledger.findings import read_findings
from biasledger.packing.archive import read_pack
from biasledger.verify import verify_ledger
from collector.errors import BiasledgerError, InputError, LedgerError
from collector.files import plain
from collector.files.plain import read_plain
from collector.files.yaml import MAX_NODES, read_yaml_mapping
from collector.importers.tabular import import_file
from collector.journal.reader import end_of, read_journal
from collector.spec.files import SpecFiles
from collector.spec.loading import load_audit
from collector.tables import inspect_log, json_files, log_rows, source
from collector.tables.logs import log_rows as rows_of_log
from collector.targets import load_target
from lmrec.yelp import read_venues

THINGS = "thing\nJo\nBo\n"
SECRET = "sk-live-0123456789abcdef"
SPEC = """
audit: people
{where}
templates: [{{id: one, text: 'Who is {{thing}}, {{a race}} person?'}}]
attributes: {{race: {{reference: White, groups: [White, Asian]}}}}
trials: 5
"""
IMPORT = """
audit: people
attributes: {race: {reference: White, groups: [White, Asian]}}
answer: {kind: text}
import: {columns: {text: answer, prompt: question, attributes: {race: race}}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "audits" / "lists").mkdir(parents=True)
    (folder / "dbt_project.yml").touch()
    for place in ("project/things.csv", "project/audits/lists/things.csv", "outside.csv"):
        (tmp_path / place).write_text(THINGS)
    return folder


def load(project: Path, file: str, *, allow_outside: bool = False) -> None:
    spec = project / "audits" / "people.yml"
    spec.write_text(SPEC.format(where=f"subjects: {{file: {json.dumps(file)}, name: thing}}"))
    assert len(load_audit(spec, allow_outside=allow_outside).subject_rows) == 2


# --- what a spec may read


@pytest.mark.parametrize(
    "file",
    [
        "lists/things.csv",
        "../things.csv",
        "../audits/lists/../../things.csv",
        "lists/link.csv",
    ],
)
def test_files_inside_the_project_are_read(project: Path, file: str) -> None:
    (project / "audits" / "lists" / "link.csv").symlink_to("../../things.csv")
    load(project, file)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        *(
            (file, "lies outside of .*project:")
            for file in ("../../outside.csv", "link.csv", "up/outside.csv", "ABSOLUTE")
        ),
        *(
            (file, "is hidden in")
            for file in ("../.env", "../.aws/credentials", "plain.csv", "lists/../../.env")
        ),
    ],
)
def test_files_outside_or_hidden_must_be_allowed(project: Path, tmp_path: Path, file: str, why: str) -> None:
    (project / ".aws").mkdir()
    for hidden in (project / ".env", project / ".aws" / "credentials"):
        hidden.write_text(THINGS)
    for link, target in (("plain.csv", "../.env"), ("link.csv", tmp_path / "outside.csv"), ("up", tmp_path)):
        (project / "audits" / link).symlink_to(target)
    file = file.replace("ABSOLUTE", str(tmp_path / "outside.csv"))
    with pytest.raises(InputError, match=rf"people\.yml names the file .* {why} .*--allow-outside"):
        load(project, file)
    load(project, file, allow_outside=True)


@pytest.mark.parametrize(
    "where",
    [
        "attributes: FILE",
        "people: {file: FILE, name: name}",
        "analysis: {lists: {relevance: FILE}}",
        "analysis: {prices: {category_sets: {a: FILE}}}",
        "answer: {kind: text}\nanalysis: {markers: {file: FILE}}",
        "attributes: {race: {file: FILE}}",
    ],
)
def test_every_file_that_a_spec_names(project: Path, where: str) -> None:
    spec = project / "audits" / "people.yml"
    named = where.replace("FILE", "../../outside.csv")
    lines = SPEC.format(where=named).replace("{thing}", "there").splitlines()
    if where.startswith("attributes"):
        lines = [line for line in lines if line == named or "attributes" not in line]
    spec.write_text("\n".join(lines))
    with pytest.raises(InputError, match="lies outside of"):
        load_audit(spec)


def test_without_a_project_a_spec_reads_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "audits").mkdir()
    (tmp_path / "things.csv").write_text(THINGS)
    with pytest.raises(InputError, match=rf"lies outside of {tmp_path}/audits:"):
        load(tmp_path, "../things.csv")


@pytest.mark.parametrize("file", ["a\0b.csv", "\ud800.csv", "x" * 5000])
def test_names_that_no_file_can_have(project: Path, file: str) -> None:
    with pytest.raises(InputError):
        load(project, file)


@pytest.mark.parametrize("command", ["collect", "import", "build"])
def test_commands_that_read_a_spec_have_the_option(command: str) -> None:
    assert "--allow-outside" in CliRunner().invoke(cli, [command, "--help"]).output


def test_a_project_in_a_hidden_folder_is_read(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "project"
    (folder / "audits").mkdir(parents=True)
    (folder / "dbt_project.yml").touch()
    (folder / "things.csv").write_text(THINGS)
    load(folder, "../things.csv")


@pytest.mark.parametrize("above", [".", "user"])
def test_a_home_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / above))
    (tmp_path / "audits").mkdir()
    for file in (tmp_path / "things.csv", tmp_path / "audits" / "things.csv"):
        file.write_text(THINGS)
    spec = tmp_path / "people.yml"
    text = SPEC.format(where="subjects: {file: FILE, name: thing}")
    spec.write_text(text.replace("FILE", "audits/things.csv"))
    sentence = r"does not lie next to it in .*, which is no project: .*BIASLEDGER_ALLOW"
    with pytest.raises(InputError, match=sentence):
        load_audit(spec)
    spec.write_text(text.replace("FILE", "things.csv"))
    assert len(load_audit(spec).subject_rows) == 2
    spec.write_text(text.replace("FILE", "audits/things.csv"))
    (tmp_path / "dbt_project.yml").touch()
    assert len(load_audit(spec).subject_rows) == 2


def test_the_root_of_the_file_system_is_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: path == Path("/dbt_project.yml"))
    files = SpecFiles.of(Path("/people.yml"))
    with pytest.raises(InputError, match="does not lie next to it in /, which is no project"):
        files.path("proc/self/environ")
    assert files.path("things.csv") == Path("/things.csv")


@pytest.mark.parametrize(
    "line",
    [
        "DATABASE_URL=postgres://admin:hunter2@db/x",
        "postgres://admin:hunter2@db/x",
        "admin:hunter2:0:0:root:/root:/bin/sh",
        "-----BEGIN hunter2 PRIVATE KEY-----",
        "A=hunter2;B=c",
        "A=hunter2,A=hunter2,thing",
        "sk-hunter2-0123456789abcdef",
        "hunter2\0\x1b[31m",
        "hunter2" * 20,
    ],
)
def test_what_looks_like_no_column_is_not_shown(project: Path, line: str) -> None:
    (project / "settings").write_text(f"{line}\nx\n")
    with pytest.raises(InputError) as caught:
        load(project, "../settings")
    assert "hunter2" not in str(caught.value)


def test_an_error_shows_no_more_of_a_file_than_a_short_excerpt(project: Path) -> None:
    (project / "long.csv").write_text(",".join(f"NAME_{number}" for number in range(500)) + ",a=b,c=d\nx\n")
    with pytest.raises(InputError) as caught:
        load(project, "../long.csv")
    shown = str(caught.value).partition("; ")[2]
    assert shown.startswith("known: 'NAME_0', 'NAME_1'")
    assert shown.endswith("; of 502 in its first line 2 look like no column's name.")
    assert len(shown) < 240


def test_a_key_is_removed_before_an_excerpt_is_cut(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", SECRET)
    monkeypatch.chdir(project)
    (project / "targets.yml").write_text("targets: {x: {kind: openai, api_key_env: A_KEY}}")
    file = f"{'x' * 45}{SECRET}{'y' * 100}"
    (project / "audits" / "people.yml").write_text(
        SPEC.format(where=f"subjects: {{file: ../../{file}, name: thing}}")
    )
    failed = CliRunner().invoke(cli, ["collect", "audits/people.yml", "--target", "x"])
    assert failed.exit_code == 3
    assert "xxx[key]" in failed.stderr
    assert SECRET[:8] not in failed.stderr


def test_an_environment_variable_allows_files_outside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "audits" / "people.yml").write_text(
        SPEC.format(where="subjects: {file: ../../outside.csv, name: thing}")
    )
    command = ["collect", "audits/people.yml", "--target", "absent"]
    (project / "targets.yml").write_text("targets: {x: {kind: simulator}}")
    refused = CliRunner().invoke(cli, command)
    assert "lies outside of" in refused.stderr
    variable = re.search(r"--allow-outside or (\w+=1)", refused.stderr)
    assert variable is not None
    monkeypatch.setenv(*variable[1].split("="))
    assert "outside" not in CliRunner().invoke(cli, command).stderr


# --- pipes and devices

Read = Callable[[Path], object]


def imported(path: Path) -> None:
    spec = path.with_name("people.yml")
    spec.write_text(IMPORT)
    import_file(load_audit(spec), spec, path, path.with_name("ledger.duckdb"))


def replayed(path: Path) -> None:
    targets = path.with_name("replay.yml")
    targets.write_text(f"targets: {{x: {{kind: replay, file: {path}}}}}")
    load_target(targets, "x")


READERS: dict[str, tuple[str, Read]] = {
    "spec": ("yml", load_audit),
    "targets": ("yml", lambda path: load_target(path, "x")),
    "csv": ("csv", imported),
    "jsonl": ("jsonl", imported),
    "json": ("json", imported),
    "eval": ("eval", imported),
    "replay": ("jsonl", replayed),
    "businesses": ("json", read_venues),
    "pack": ("zip", read_pack),
    "baseline": ("gz", baseline_file.read_baseline),
    "journal": ("jsonl", lambda path: list(read_journal(path))),
    "journal's end": ("jsonl", end_of),
    "parquet": ("parquet", imported),
}


def no_file(path: Path, kind: str) -> Path:
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str, kind: str) -> None:
    ending, read = READERS[name]
    with pytest.raises(BiasledgerError, match=f"file.{ending} is not a file"):
        read(no_file(tmp_path / f"file.{ending}", kind))


@pytest.mark.parametrize("read", [verify_ledger, read_findings], ids=["ledger", "warehouse"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_device_is_no_database(tmp_path: Path, read: Read, kind: str) -> None:
    with pytest.raises(BiasledgerError, match=r"There is no \w+ at .*file\.duckdb"):
        read(no_file(tmp_path / "file.duckdb", kind))


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as stream:
        stream.truncate(3 << 20)  # a sparse file, which takes no space on disk
    with pytest.raises(InputError, match="file is larger than 2 MiB"):
        read_plain(path, 2 << 20)
    assert len(read_plain(path, 3 << 20)) == 3 << 20


@pytest.mark.parametrize("name", ["spec", "csv", "jsonl", "journal", "journal's end"])
def test_a_hole_in_a_file_is_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ending, read = READERS[name]
    monkeypatch.setattr("collector.journal.reader.MAX_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(log_rows, "MAX_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(source, "MAX_ROW_BYTES", 1 << 20)
    monkeypatch.setattr(json_files, "MAX_ROW_BYTES", 1 << 20)
    path = tmp_path / f"file.{ending}"
    path.write_bytes(b"answer,question,race\n" if ending == "csv" else b"")
    with path.open("ab") as stream:
        stream.truncate(16 << 20)
    with pytest.raises((InputError, LedgerError), match=f"file.{ending}"):
        read(path)


# --- bombs


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.yml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "message"), [
    ("".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]\n" for n in range(20)),
     "with aliases written"),
    (("a0: &a0 {k: x}\n"
      + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 20))),
     "with aliases written"),
    ("a: &a [1, *a]\n", "an alias occurs inside what it names"),
    ("a: &a {b: [*a]}\n", "an alias occurs inside what it names"),
    ("a: " + "1:" * 5000 + "1\n", "a value that is no text has more than 1000 characters"),
    ("a: " + "[" * 5000 + "\n", "is not valid YAML"),
], ids=["lists", "merges", "itself", "itself in a list", "a number", "nested"])  # fmt: skip
def test_yaml_without_bound(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    for read in (load_audit, lambda path: load_target(path, "x")):
        with pytest.raises(InputError, match=message):
            read(path)


def test_a_wide_document_is_read_up_to_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.files.yaml.MAX_NODES", 50)
    with pytest.raises(InputError, match=r"column \d\d: there are more than 50 values"):
        read_yaml_mapping(written(tmp_path, "a: [" + "1," * 5000 + "]"), what="x")


def test_aliases_within_the_bound_are_read(tmp_path: Path) -> None:
    assert MAX_NODES >= 50_000
    path = written(tmp_path, "a: &a {b: [1, 2], text: " + "x" * 5000 + "}\nc: *a\nd: {<<: *a, e: 1}\n")
    document = read_yaml_mapping(path, what="x")
    assert document["c"] == document["a"]
    assert document["d"] == {**document["a"], "e": 1}


def archive(path: Path, sample: bytes, *, stated: int | None = None) -> Path:
    """Write an .eval log with one sample; `stated` is the size in the archive's directory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps({"eval": {"task": "a", "model": "b"}}))
        log.writestr("samples/1_epoch_1.json", sample)
    if stated is not None:
        content = path.read_bytes()
        path.write_bytes(content.replace(len(sample).to_bytes(4, "little"), stated.to_bytes(4, "little")))
    return path


@pytest.mark.parametrize(
    ("module", "limit", "sentence"),
    [
        (plain, "FREE_BYTES", r"log\.eval would become 2,097,\d+ bytes, \d+ times what it is"),
        (inspect_log, "MAX_SAMPLE_BYTES", r"samples/1_epoch_1\.json has more than 1 MiB"),
    ],
)
def test_an_archive_or_a_sample_that_becomes_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, limit: str, sentence: str
) -> None:
    monkeypatch.setattr(module, limit, 1 << 20)
    path = archive(tmp_path / "log.eval", b" " * (2 << 20))
    with pytest.raises(InputError, match=sentence):
        list(rows_of_log(path, None) or ())


def test_an_archive_that_states_less_than_it_holds_is_damaged(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", b'{"a": "' + b"x" * 70_000 + b'"}', stated=10)
    with pytest.raises(InputError, match="is not a readable Inspect AI log"):
        list(rows_of_log(path, None) or ())


def test_a_baseline_that_becomes_far_more_than_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_file, "_MOST_BYTES", 1 << 20)
    (tmp_path / "baseline").write_bytes(gzip.compress(b" " * (2 << 20)))
    with pytest.raises(InputError, match="would become more than 1 MiB"):
        baseline_file.read_baseline(tmp_path / "baseline")
