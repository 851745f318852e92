"""Test imports of files: every format with the same outcome, all columns, trials, models and names of files."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import BiasledgerError, InputError
from collector.hashing import hash_of_file
from collector.importers import reading, responses, tabular
from collector.ledger.database import Ledger
from collector.rows import ResponseRow, response_hash
from collector.spec.prompts import Prompt, PromptAttribute
from collector.tables.source import readable
from tests.python.collector.importing import Bring, Content, Query, Row, simple, write_file


def row(race: str, gender: str, who: str, answer: str | None) -> Row:
    return {"race": race, "gender": gender, "question": f"Describe {who}.", "answer": answer}


ROWS = [
    row("a White", "M", "a White man", 'He said: "hello, you"\nand left.'),
    row("an Asian", "M", "an Asian man", "Grüße 👩‍👩‍👧 日本 قهوة"),
    row(" Asian ", "W", "an Asian woman", "x" * 5_100_000),
    row("White", "W", "a White woman", None),
    row("White", "W", "a White woman", "I'm sorry, but I can't help with that."),
    row("White", "W", "a White woman", "She reads."),
]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "parquet"])
def test_every_format_has_the_same_outcome(tmp_path: Path, bring: Bring, query: Query, ending: str) -> None:
    file = write_file(tmp_path / f"texts.{ending}", ROWS)
    summary = bring(file, name="gpt", versions={"biasledger": "9.9"})
    # 5.1 million characters are over the default limit: kept, not analysed; no answer at all is malformed too.
    assert summary.counts == {"ok": 3, "malformed": 2, "refused": 1}
    assert (summary.n_prompts, summary.n_responses) == (4, 6)
    assert (summary.target, summary.is_simulated) == ("gpt", False)
    kept = query("select seq, trial, attempt, status, response_text, weight from raw.responses order by seq")
    assert kept == [
        (1, 1, 1, "ok", ROWS[0]["answer"], 1.0),
        (2, 1, 1, "ok", ROWS[1]["answer"], 1.0),
        (3, 1, 1, "malformed", ROWS[2]["answer"], 1.0),
        (4, 1, 1, "malformed", None, 1.0),
        (5, 2, 1, "refused", ROWS[4]["answer"], 1.0),
        (6, 3, 1, "ok", "She reads.", 1.0),
    ]
    groups = (PromptAttribute(1, "race", "Asian", "an Asian"), PromptAttribute(1, "gender", "M", "M"))
    prompt = Prompt("imported", "en", "plain", "Describe an Asian man.", attributes=groups)
    assert query("select prompt_id, content_hash from raw.responses where seq = 2") == [
        (prompt.prompt_id, response_hash(prompt.content_hash, "ok", ROWS[1]["answer"]))
    ]
    of_one = "inner join raw.prompts using (run_id, prompt_id) where prompt_text = 'Describe an Asian woman.'"
    attributes = (
        f"select attribute, group_name, descriptor from raw.prompt_attributes {of_one} order by 1 desc"
    )
    assert query(attributes) == [("race", "Asian", "an Asian"), ("gender", "W", "W")]
    columns = "origin, target_kind, source_name, source_hash[:7], model_asked, is_simulated"
    assert query(f"select {columns} from raw.runs") == [
        ("imported", "import", f"texts.{ending}", "sha256:", None, False)
    ]
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("finished",)]
    assert query("select audit from raw.analysis_settings") == [("texts",)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_dialects_of_csv(tmp_path: Path, bring: Bring, query: Query, delimiter: str, start: str) -> None:
    path = tmp_path / "texts.csv"
    lines = [
        ["id", "", "answer", "gender", "race", "question"],
        ["1", "", '"a; b, c | d\t""e"" \r\n f"', "M", "White", "q"],
    ]
    path.write_text(start + "\r\n".join(delimiter.join(line) for line in lines), encoding="utf-8", newline="")
    assert bring(path).counts == {"ok": 1}
    assert query("select response_text from raw.responses") == [('a; b, c | d\t"e" \r\n f',)]


def test_all_columns(tmp_path: Path, mapped: Bring, query: Query) -> None:
    rows = simple(
        6,
        k=[3, 1, 2, 5, 0, 7],
        w=["1", "2.5", "3", "1e1", "0.5", "1.0"],
        o=["30", "10", "20", "5", "40", "-1.5"],
        t=["a", "a", "b", "b", "a", "a"],
        s=["s1"] * 5 + [None],
        e=["yes"] * 5 + [""],
        m=["m1"] * 6,
    )
    file = write_file(tmp_path / "texts.csv", rows)
    more = "trial: k, weight: w, order: o, template: t, subject: s, expected: e, model: m"
    assert mapped(file, more, simulated=True).is_simulated
    kept = query("select response_text, trial, seq, weight from raw.responses order by response_text")
    numbers = [(3, 5, 1.0), (1, 3, 2.5), (2, 4, 3.0), (5, 2, 10.0), (0, 6, 0.5), (7, 1, 1.0)]
    assert kept == [(f"Answer {number}", *one) for number, one in enumerate(numbers)]
    assert query("select distinct model_answered from raw.responses") == [("m1",)]
    prompts = "select template, subject, expected_label, count(*) from raw.prompts group by all order by all"
    assert query(prompts) == [("a", "s1", "yes", 2), ("a", None, None, 1), ("b", "s1", "yes", 2)]
    assert query("select model_asked, is_simulated from raw.runs") == [("m1", True)]


def test_trials_follow_the_order_column_not_the_rows(tmp_path: Path, mapped: Bring, query: Query) -> None:
    rows = simple(40, o=[f"{1_700_000_000_000_000_000 + index}" for index in range(40)])
    for name, chosen in (("forward", rows), ("backward", rows[::-1])):
        mapped(write_file(tmp_path / f"{name}.jsonl", chosen), "order: o", name=name)
    kept = "select prompt_id, trial, seq, content_hash from raw.responses inner join raw.runs using (run_id) where target = "
    assert query(f"{kept}'forward' order by all") == query(f"{kept}'backward' order by all")
    assert query("select max(trial), count(distinct seq) from raw.responses") == [(10, 40)]


def test_json_answers_and_objects_in_json_lines(tmp_path: Path, bring: Bring, query: Query) -> None:
    rows = simple(4)
    rows[0]["answer"] = {"Tea": "Warm."}
    rows[1]["answer"] = '```json\n{"Tea": "Warm.",}\n```'
    rows[2]["answer"] = '{"Tea": "War'
    summary = bring(write_file(tmp_path / "a.jsonl", rows), ("kind: text", "kind: json_object"))
    assert summary.counts == {"ok": 2, "truncated": 1, "malformed": 1}
    assert query("select distinct answer_text from raw.responses where status = 'ok'") == [("Tea Warm.",)]


def test_a_row_without_a_template_has_the_default_one(tmp_path: Path, mapped: Bring, query: Query) -> None:
    rows = [{**simple(1)[0], "asked": template} for template in ("", "imported")]
    summary = mapped(write_file(tmp_path / "templates.csv", rows), "template: asked")
    assert (summary.n_prompts, summary.n_responses) == (1, 2)
    assert query("select distinct template from raw.prompts") == [("imported",)]


def test_prompts_that_are_one_once_kept_are_refused(tmp_path: Path, mapped: Bring, query: Query) -> None:
    """A ledger with a prompt in it twice could never be built again."""
    rows = [{**simple(1)[0], "about": subject} for subject in ("a\x00", "a\ufffd")]
    file = write_file(tmp_path / "nul.jsonl", rows)
    sentence = r"nul\.jsonl: two prompts that differ in the file are one as they are kept"
    with pytest.raises(InputError, match=sentence):
        mapped(file, "subject: about")
    assert query("select count(*) from raw.prompts") == [(0,)]


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet", "log"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            duckdb.IOException("IO Error: Could not write file: No space left"),
            "Could not write file: No space left.",
        ),
        (
            duckdb.OutOfMemoryException(
                "Out of Memory Error: failed to allocate data (1.0 GiB used).\n\nSolutions:"
            ),
            "failed to allocate data (1.0 GiB used); a row should have at most 64 MiB, and temporary files need disk space.",
        ),
    ],
)
def test_a_full_disk_and_too_little_memory_are_no_faults_of_a_line(
    tmp_path: Path, file_format: str, error: duckdb.Error, message: str
) -> None:
    path = tmp_path / "rows"
    path.write_text("not read for it")
    with pytest.raises(InputError) as caught, readable(path, file_format):
        raise error
    assert str(caught.value) == f"{path} cannot be read: {message}"


def test_a_byte_order_mark_and_a_nul_in_json_lines(tmp_path: Path, bring: Bring, query: Query) -> None:
    path = tmp_path / "a.jsonl"
    row = '{"race": "White", "gender": "M", "question": "q", "answer": "a\\u0000b"}\n'
    path.write_text(f"\ufeff{row}{row}", encoding="utf-8")
    assert bring(path).counts == {"ok": 2}
    assert query("select distinct response_text, answer_text from raw.responses") == [("a�b", "a�b")]


def test_more_rows_than_a_batch(tmp_path: Path, bring: Bring, query: Query) -> None:
    summary = bring(write_file(tmp_path / "a.jsonl", simple(12_001)))
    assert summary.counts == {"ok": 12_001}
    distinct = "count(distinct seq), count(distinct (prompt_id, trial)), count(distinct response_text)"
    assert query(f"select count(*), {distinct} from raw.responses") == [(12_001, 12_001, 12_001, 12_001)]
    mismatched = query("select count(*) from raw.responses where response_text != 'Answer ' || (seq - 1)")
    assert mismatched == [(0,)]


def test_a_late_column_of_json_lines_is_found(tmp_path: Path, mapped: Bring, query: Query) -> None:
    rows = simple(10_050)
    rows[-1]["m"] = "late"
    mapped(write_file(tmp_path / "a.jsonl", rows), "model: m")
    assert query("select count(*) from raw.responses where model_answered = 'late'") == [(1,)]


def test_warnings(tmp_path: Path, mapped: Bring) -> None:
    summary = mapped(write_file(tmp_path / "a.csv", simple(8, m=["m1", "m2"] * 4)), "model: m")
    assert "a.csv holds answers of several models (m1, m2)" in summary.warnings[0]
    assert summary.target == "a"
    assert "2 responses of the smallest group give low statistical power" in summary.warnings[1]
    assert mapped(write_file(tmp_path / "b.csv", simple(60, m=["m1"] * 60)), "model: m").warnings == ()
    alone = mapped(write_file(tmp_path / "c.csv", simple(4)), "")
    assert alone.warnings[0].startswith("1 response of the smallest group gives low statistical power")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    "name",
    [
        "answers[1]",
        "answers*",
        "answers?",
        "[a-z]*",
        "**",
        "k=v/race=Black/answers",
        "it's",
        "a\\b",
        "[x]/answers",
    ],
)
def test_no_other_file_is_read(tmp_path: Path, bring: Bring, query: Query, name: str, ending: str) -> None:
    """DuckDB takes * ? [ in a path for a pattern, and folders called `race=Black` for columns."""
    others = ("answers1", "answersx", "answers", "axx", "x/answers")
    for other in others:
        (tmp_path / other).parent.mkdir(exist_ok=True)
        write_file(tmp_path / f"{other}{ending}", [{**row, "answer": "of another file"} for row in simple(8)])
    path = tmp_path / f"{name}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, simple(8))
    bring(path)
    expected = hash_of_file(path)
    assert query("select source_name, source_hash from raw.runs") == [(path.name, expected)]
    texts = {text for (text,) in query("select response_text from raw.responses")}
    assert texts == {row["answer"] for row in simple(8)}
    groups = "select group_name from raw.prompt_attributes where attribute = 'race' group by all order by all"
    assert query(groups) == [("Asian",), ("White",)]


def test_a_name_that_cannot_be_written_as_a_pattern_is_refused(tmp_path: Path, bring: Bring) -> None:
    path = write_file(tmp_path / "a\\[1].csv", simple(8))
    with pytest.raises(InputError, match=r"has a backslash and one of .* give it another name"):
        bring(path)


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, bring: Bring, monkeypatch: pytest.MonkeyPatch, ledger_path: Path
) -> None:
    path = write_file(tmp_path / "a.csv", simple(8))
    append = tabular._append

    def changed(*arguments: Any) -> Any:
        done = append(*arguments)
        path.write_bytes(path.read_bytes() + b"\n")
        return done

    monkeypatch.setattr(tabular, "_append", changed)
    with pytest.raises(InputError, match="was changed while it was read"):
        bring(path)
    assert Ledger(ledger_path).runs() == []


def test_a_run_is_called_after_the_only_model_of_a_file(tmp_path: Path, mapped: Bring, query: Query) -> None:
    """Under another name each month, a file would stay current for ever next to those that came later."""
    for month, answer in (("january", "a"), ("february", "b")):
        rows = [{**row, "m": "m1" if n else None} for n, row in enumerate(simple(8))]
        mapped(write_file(tmp_path / f"{month}.csv", [{**row, "note": answer} for row in rows]), "model: m")
    kept = query("select distinct target, source_name from raw.runs order by all")
    assert kept == [("m1", "february.csv"), ("m1", "january.csv")]
    file = write_file(tmp_path / "march.csv", simple(12, m=["m1"] * 12))
    assert mapped(file, "model: m", name="assistant").target == "assistant"


def test_content_is_imported_once(tmp_path: Path, bring: Bring, content: Content, query: Query) -> None:
    first = bring(write_file(tmp_path / "a.csv", simple(4)))
    before = content()
    copy = write_file(tmp_path / "copy.csv", simple(4))
    with pytest.raises(InputError) as caught:
        bring(copy)
    assert f"as run {first.run_id}" in str(caught.value)
    assert "--again" in str(caught.value)
    assert content() == before
    bring(copy, again=True)
    assert query("select count(*) from raw.runs") == [(2,)]
    assert query("select count(*) from raw.analysis_settings") == [(1,)]


class TestProcesses:
    """Large files are read in processes of their own."""

    COLUMNS = (
        "trial, attempt, seq, status, content_hash, response_text, answer_text, error, read_by, reasoning_text, "
        "answer_language"
    )

    @pytest.fixture(autouse=True)
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take a file of a hundred rows for a large one of ten batches."""
        monkeypatch.setattr(reading, "_ROWS_FOR_PROCESSES", 100)
        monkeypatch.setattr(responses, "BATCH_ROWS", 10)

    def rows(self) -> list[Row]:
        """Return ROWS many times, each time with other words."""
        return [
            {**one, "answer": one["answer"] and f"{n}. {one['answer'][:1000]}"}
            for n in range(20)
            for one in ROWS
        ]

    def test_they_read_as_the_first_one_does(
        self, tmp_path: Path, bring: Bring, query: Query, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = write_file(tmp_path / "a.csv", self.rows())
        second = bring(file)
        monkeypatch.setattr(reading, "_ROWS_FOR_PROCESSES", 1_000)
        monkeypatch.setattr(reading, "_process", None)
        first = bring(file, again=True)
        selected = [
            query(f"select {self.COLUMNS} from raw.responses where run_id = '{run.run_id}' order by seq")
            for run in (first, second)
        ]
        assert len(selected[0]) == 120
        assert selected[0] == selected[1]
        assert first.counts == second.counts

    def test_the_end_of_one_keeps_nothing(
        self, tmp_path: Path, bring: Bring, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = write_file(tmp_path / "a.csv", self.rows())
        receive, received = reading._Process.receive, []

        def killed(process: reading._Process) -> list[ResponseRow]:
            received.append(receive(process))
            process.running.kill()
            process.running.wait()
            return received[-1]

        with monkeypatch.context() as patched:
            patched.setattr(reading._Process, "receive", killed)
            with pytest.raises(BiasledgerError, match="import the file again"):
                bring(file)
        assert len(received) == 1
        with duckdb.connect(str(ledger_path), read_only=True) as connection:
            assert connection.execute("select count(*) from raw.runs").fetchall() == [(0,)]
        assert bring(file).n_responses == 120

    def test_the_end_of_one_in_the_middle_of_its_rows_is_told(self) -> None:
        half = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(['row'] * 9 + ['x' * 99])[:-50])"
        command = [sys.executable, "-c", half]
        pipe = subprocess.PIPE
        with (
            subprocess.Popen(command, stdin=pipe, stdout=pipe) as running,
            pytest.raises(BiasledgerError, match="import the file again"),
        ):
            reading._Process(running).receive()

    @pytest.mark.parametrize("sent", ["nothing", "half a batch", "a batch"])
    def test_they_end_with_the_process_that_started_them_and_say_nothing(
        self, tmp_path: Path, import_spec: Path, sent: str
    ) -> None:
        script = f"""
import os, pickle, signal
from pathlib import Path
from collector.importers import reading
from collector.importers.plan import PlannedAnswer
from collector.spec.loading import load_audit

audit = load_audit(Path({str(import_spec)!r}))
answer = PlannedAnswer(1, 1, 1, 1, 1.0, None, "She reads. " * 20_000)
batch = [("prompt", "hash", answer)] * 9
with reading._process() as process:
    if {sent!r} != "nothing":
        process.send(reading.Reader(audit))
    if {sent!r} == "a batch":
        process.send(batch)
        # More than a pipe holds: the process is writing when nobody takes the rest.
        assert process._output.read(1)
    if {sent!r} == "half a batch":
        process._input.write(pickle.dumps(batch)[:1_000])
        process._input.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
        # The process that reads has the same standard error, which is at its end when both have ended.
        started = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (started.returncode, started.stderr) == (-signal.SIGKILL, "")
