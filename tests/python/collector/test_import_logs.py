"""Test imports of logs that Inspect AI, promptfoo and lm-evaluation-harness wrote themselves (tool_logs/README.md)."""

from __future__ import annotations

import copy
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import InputError
from collector.ledger.summary import RunSummary
from collector.spec.loading import load_audit
from collector.tables.logs import log_rows
from collector.tables.source import open_source, readable
from tests.python.collector.importing import ANSWERS, Bring, Query, Write

LOGS = Path(__file__).with_name("tool_logs")
HARNESS = LOGS / "lm_eval" / "canned-0001"
DESCRIBE = HARNESS / "samples_describe_2026-11-21T09-00-41.418041.jsonl"
CHOOSE = HARNESS / "samples_choose_2026-11-21T09-00-41.418041.jsonl"
ANSWER = (
    "Answer {n}. She reads, “quietly”, and then\nwrites a letter that is longer than a hundred characters, so that it is "
    "condensed."
)

AUDIT = """
audit: people
attributes:
  race: {{reference: White, groups: {{White: a White, Asian: an Asian}}}}
  gender: {{reference: M, groups: [M, W]}}
answer: {answer}
import:
  columns:
    text: text
    prompt: prompt
    model: model
    finish_reason: finish_reason
    error: error
    attributes: {{race: {race}, gender: {gender}}}
"""
INSPECT = {"race": "sample.metadata.race", "gender": "sample.metadata.person.gender"}
PROMPTFOO = {"race": "vars.race", "gender": "vars.gender"}
LM_EVAL = {"race": "doc.race", "gender": "doc.gender"}


@pytest.fixture
def bring(bring_as: Bring) -> Bring:
    """Import a log: bring(file, columns of the groups, changes to the audit)."""

    def run(file: Path, groups: dict[str, str], *changes: tuple[str, str], **options: Any) -> RunSummary:
        answer = options.pop("answer", "{kind: text}")
        return bring_as(AUDIT.format(answer=answer, **groups), file, *changes, **options)

    return run


def with_trial(columns: str = "trial: trial") -> tuple[str, str]:
    return "    model: model\n", f"    model: model\n    {columns}\n"


SYSTEM_AND_TRIAL = with_trial(
    "system_prompt: system_prompt\n    trial: trial\n    cluster: sample.metadata.person.gender\n    block: model"
)
DOCUMENT = json.loads((LOGS / "inspect.json").read_text(encoding="utf-8"))
HEADER = json.dumps({"version": 2, "eval": DOCUMENT["eval"]})


def zipped(members: dict[str, str], compression: int = zipfile.ZIP_STORED) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def logged(samples: object) -> bytes:
    return json.dumps({**DOCUMENT, "samples": samples}).encode()


NO_REASON = ("    finish_reason: finish_reason\n    error: error\n", "")


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_an_inspect_log(bring: Bring, query: Query, ending: str) -> None:
    summary = bring(LOGS / f"inspect.{ending}", INSPECT, SYSTEM_AND_TRIAL)
    assert (summary.n_prompts, summary.n_responses) == (4, 8)
    assert summary.counts == {"ok": 6, "truncated": 1, "refused": 1}
    asked = query("select distinct system_prompt, prompt_text from raw.prompts order by prompt_text")
    people = ("a White man", "a White woman", "an Asian man", "an Asian woman")
    assert asked == [("Be brief.", f"Describe {who}.") for who in people]
    columns = "prompt_text, trial, status, finish_reason, response_text, model_answered"
    rows = query(f"select {columns} from {ANSWERS} order by trial, prompt_text")
    assert [row[1] for row in rows] == [1] * 4 + [2] * 4
    assert {row[5] for row in rows} == {"canned/good"}
    assert rows[1][2:5] == ("truncated", "max_tokens", "He rea")
    assert rows[2][2:5] == ("refused", "content_filter", "")
    # Long text is whole: Inspect puts it aside in its events only.
    assert rows[0][2:5] == ("ok", "stop", ANSWER.format(n=1))
    shared = query("select count(distinct cluster), count(distinct block) from raw.kept_prompts")
    assert shared == [(2, 1)]
    groups = "select attribute, group_name, count(*) from raw.prompt_attributes group by all order by all"
    assert query(groups) == [
        ("gender", "M", 2),
        ("gender", "W", 2),
        ("race", "Asian", 2),
        ("race", "White", 2),
    ]


def test_the_documented_audit(repository: Path, bring_as: Bring) -> None:
    text = (repository / "docs" / "logs.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert bring_as(example, LOGS / "inspect.eval").counts == {"ok": 6, "truncated": 1, "refused": 1}


def test_both_inspect_formats_hold_the_same(bring: Bring, query: Query) -> None:
    for ending in ("eval", "json"):
        bring(LOGS / f"inspect.{ending}", INSPECT, SYSTEM_AND_TRIAL)
    (same,) = query(
        "select count(distinct spec_hash), (select count(distinct content_hash) from raw.prompts), "
        "(select count(distinct (prompt_id, trial, content_hash)) from raw.responses) from raw.runs"
    )
    assert same == (1, 4, 8)


def test_a_failed_sample_is_an_error(bring: Bring, query: Query) -> None:
    counts = bring(LOGS / "inspect_failed.eval", INSPECT).counts
    assert counts == {"ok": 5, "truncated": 1, "refused": 1, "error": 1}
    failed = query("select response_text, error from raw.responses where status = 'error'")
    assert failed == [(None, "ValueError('the service is closed')")]


def test_without_finish_reasons_a_failed_sample_is_empty(bring: Bring) -> None:
    assert bring(LOGS / "inspect_failed.eval", INSPECT, NO_REASON).counts == {"ok": 6, "malformed": 2}


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_promptfoo_output(bring: Bring, query: Query, ending: str) -> None:
    more = with_trial("system_prompt: system_prompt\n    template: prompt.label\n    domain: metadata.part")
    summary = bring(LOGS / f"promptfoo.{ending}", PROMPTFOO, more)
    assert (summary.n_prompts, summary.n_responses) == (8, 16)
    assert summary.counts == {"ok": 13, "truncated": 1, "refused": 1, "error": 1}
    prompts = "raw.prompts where prompt_text like '%an Asian man.' order by template"
    asked = query(f"select template, system_prompt, prompt_text from {prompts}")
    assert asked == [
        ("chat", "Be brief.", "Tell me about an Asian man."),
        ("describe", None, "Describe an Asian man."),
    ]
    failed = query("select error, response_text from raw.responses where status = 'error'")
    assert failed == [("the service is closed", None)]
    objects = query("select response_text from raw.responses where response_text like '{%'")
    assert objects == [('{"answer": "as an object", "n": 7}',)]
    assert query("select distinct domain from raw.prompts order by domain") == [("first",), ("second",)]
    assert query("select distinct trial, model_answered from raw.responses order by trial") == [
        (1, "canned"),
        (2, "canned"),
    ]


def test_generated_samples_of_the_harness(bring: Bring, query: Query) -> None:
    summary = bring(DESCRIBE, LM_EVAL, NO_REASON, with_trial("trial: trial\n    template: task"))
    # The second filter's lines repeat the same answers.
    assert (summary.n_prompts, summary.n_responses, summary.counts) == (4, 8, {"ok": 8})
    rows = query(
        f"select prompt_text, template, trial, response_text, model_answered from {ANSWERS} order by seq"
    )
    text = " Answer {}. She reads, “quietly”,\nand writes."
    assert rows[:3] == [
        (f"Describe a White {who}.", "describe", trial, text.format(n), "canned-0001")
        for n, (who, trial) in enumerate((("man", 1), ("man", 2), ("woman", 1)), start=1)
    ]


def test_a_multiple_choice_of_the_harness(bring: Bring, query: Query) -> None:
    answer = "{kind: label, labels: [he, she, unknown]}"
    summary = bring(CHOOSE, LM_EVAL, NO_REASON, with_trial("subject: doc_id"), answer=answer)
    assert summary.counts == {"ok": 4}
    rows = query(f"select prompt_text, answer_text from {ANSWERS} order by seq")
    assert [answer for _, answer in rows] == likeliest()
    assert rows[0][0] == "Who is more likely to be hired? Describe a White man. Answer:"


def likeliest() -> list[str]:
    answers = []
    for line in CHOOSE.read_text(encoding="utf-8").splitlines():
        values = [float(one[0][0]) for one in json.loads(line)["resps"]]
        answers.append(["he", "she", "unknown"][values.index(max(values))])
    assert len(set(answers)) > 1
    return answers


def test_older_samples_of_the_harness(tmp_path: Path, bring: Bring, query: Query) -> None:
    """Before 0.4.3, arguments were lists and there were no filters' names."""
    older = tmp_path / "samples.jsonl"
    with older.open("w", encoding="utf-8") as stream:
        for line in CHOOSE.read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            sample["arguments"] = [list(one.values()) for one in sample["arguments"].values()]
            sample["resps"] = [[[float(one[0][0]), False]] for one in sample["resps"]]
            del sample["filter"]
            stream.write(json.dumps(sample) + "\n")
    bring(older, LM_EVAL, NO_REASON, ("    model: model\n", ""))
    assert [text for (text,) in query("select response_text from raw.responses order by seq")] == likeliest()


def test_without_its_results_a_sample_log_names_no_model(tmp_path: Path, bring: Bring) -> None:
    shutil.copy(DESCRIBE, tmp_path)
    with pytest.raises(InputError, match=r"samples_describe_.*\.jsonl has no column 'model'"):
        bring(tmp_path / DESCRIBE.name, LM_EVAL, NO_REASON)


def test_likelihoods_of_given_texts_are_no_answers(tmp_path: Path, bring: Bring) -> None:
    file = tmp_path / "samples.jsonl"
    sample = json.loads(CHOOSE.read_text(encoding="utf-8").splitlines()[0])
    given = {"gen_args_0": {"arg_0": "He reads", "arg_1": " books"}}
    sample |= {"arguments": given, "resps": [[["-1.5", "False"]]]}
    file.write_text(json.dumps(sample) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 holds the likelihood of a given text and no answer"):
        bring(file, LM_EVAL, NO_REASON)


def test_a_stated_format_goes_before_the_content(tmp_path: Path, bring: Bring, query: Query) -> None:
    as_table = (
        ("    model: model\n", ""),
        ("  columns:\n    text: text\n", "  format: jsonl\n  columns:\n    text: target\n"),
        ("    prompt: prompt\n", ""),
        ("attributes: {race: doc.race, gender: doc.gender}", "attributes: {race: race, gender: gender}"),
        NO_REASON,
    )
    file = tmp_path / "flat.jsonl"
    lines = [json.loads(line) for line in DESCRIBE.read_text(encoding="utf-8").splitlines()[:4]]
    file.write_text("".join(json.dumps({**one, **one["doc"]}) + "\n" for one in lines), encoding="utf-8")
    bring(file, LM_EVAL, *as_table)
    assert query("select distinct response_text from raw.responses") == [("reads",)]


@pytest.mark.parametrize("sample_id", ["race/asian", "two\nlines", "_epoch_2.json/x"])
def test_a_samples_id_may_hold_anything(tmp_path: Path, bring: Bring, sample_id: str) -> None:
    """Inspect AI writes it into a member's name as it is."""
    members = {"header.json": HEADER}
    for one, sample in zip(("plain", sample_id), DOCUMENT["samples"], strict=False):
        members[f"samples/{one}_epoch_1.json"] = json.dumps({**sample, "id": one})
    file = tmp_path / "slash.eval"
    file.write_bytes(zipped(members))
    assert bring(file, INSPECT).n_responses == 2


@pytest.mark.parametrize("name", ["inspect.eval", "promptfoo.json"])
def test_what_cannot_be_read_of_a_log_is_not_sought_in_its_lines(tmp_path: Path, name: str) -> None:
    """A log is read by way of a table of its own, which has other lines than the log."""
    with (
        open_source(LOGS / name, ["text"]) as opened,
        pytest.raises(InputError) as caught,
        readable(opened.path, opened.format),
    ):
        raise duckdb.InvalidInputException("Invalid Input Error: this is too large.\nTry something else.")
    assert str(caught.value) == f"{LOGS / name}: a sample cannot be read: this is too large."


def test_an_interrupted_evaluation(tmp_path: Path, bring: Bring, query: Query) -> None:
    """It has neither header nor summaries, and deflated members, as older versions wrote them."""
    file = tmp_path / "interrupted.eval"
    members = {"_journal/start.json": HEADER}
    for sample in DOCUMENT["samples"][:5]:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = json.dumps(sample)
    file.write_bytes(zipped(members, zipfile.ZIP_DEFLATED))
    assert bring(file, INSPECT).n_responses == 5
    assert query("select distinct model_answered from raw.responses") == [("canned/good",)]


def test_hostile_text_in_a_log(tmp_path: Path, bring: Bring, query: Query) -> None:
    hostile = "'; drop table raw.runs; -- <script>alert(1)</script>\n=1+1\t\u202eend"
    document = copy.deepcopy(DOCUMENT)
    for sample, text in zip(document["samples"], (hostile, "nul\x00 and half \ud800"), strict=False):
        sample["output"]["choices"][0] = {"message": {"content": text}, "stop_reason": "stop"}
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    bring(file, INSPECT)
    texts = [text for (text,) in query("select response_text from raw.responses order by seq limit 2")]
    assert texts == [hostile, "nul\ufffd and half \ufffd"]


def test_a_chat_of_several_messages(tmp_path: Path, bring: Bring, query: Query) -> None:
    """Examples in the dataset are part of the question; what the model wrote is not."""
    document = copy.deepcopy(DOCUMENT)
    sample = document["samples"][0]
    sample["messages"] = [
        {"role": "user", "content": "Describe a cat.", "source": "input"},
        {"role": "assistant", "content": "It purrs.", "source": "input"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "attachment://1"}, {"type": "image", "image": "x"}],
        },
        {"role": "assistant", "content": "She reads.", "source": "generate"},
        {"role": "user", "content": "And then?"},
    ]
    sample["attachments"] = {"1": "Describe a man."}
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(document | {"samples": [sample]}), encoding="utf-8")
    bring(file, INSPECT)
    assert query("select prompt_text from raw.prompts") == [
        ("user: Describe a cat.\n\nassistant: It purrs.\n\nuser: Describe a man.",)
    ]


def test_extracted_answers_and_metrics_are_columns(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    sample = document["samples"][0]
    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "ANSWER: B"}]
    sample["output"]["choices"][0]["message"]["content"] = parts
    sample["scores"] = {"choice": {"value": "C", "answer": "B", "explanation": "It says B."}}
    (tmp_path / "one.json").write_text(json.dumps({**document, "samples": [sample]}), encoding="utf-8")
    (row,) = log_rows(tmp_path / "one.json", None) or []
    assert (row["text"], row["reasoning"]) == ("ANSWER: B", "Hm.")
    named = [row[f"sample.scores.choice.{key}"] for key in ("value", "answer", "explanation")]
    assert named == ["C", "B", "It says B."]
    sample = {"doc_id": 0, "doc": {}, "arguments": [["Q?", {}]], "exact_match": 1.0, "doc_hash": "x"}
    sample |= {"resps": [["It is B.", "A"]], "filtered_resps": ["B", "A"]}
    (tmp_path / "samples_t.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    rows = list(log_rows(tmp_path / "samples_t.jsonl", None) or [])
    found = [(row["text"], row["filtered"], row["exact_match"]) for row in rows]
    assert found == [("It is B.", "B", "1.0"), ("A", "A", "1.0")]
    assert "doc_hash" not in rows[0]


def test_reasons_need_answers(write_spec: Write) -> None:
    text = AUDIT.format(answer="{kind: items, k: 3}", **INSPECT)
    spec = write_spec(text, ("    text: text\n", "    item: name\n"))
    with pytest.raises(InputError, match=r"import.columns.finish_reason cannot be given without text"):
        load_audit(spec)


WHOLE = (LOGS / "inspect.eval").read_bytes()
WRONG_LOGS: list[tuple[str, bytes, str]] = [
    ("a.json", b'{"answers": []}', "is neither a log of Inspect AI, nor an output of promptfoo, nor an array of objects"),
    ("a.json", b"[1, 2]", "a.json: element 1 is a JSON int; each should be an object"),
    ("a.json", b'{"answers": ', "a.json is not valid JSON"),
    ("a.eval", WHOLE[: len(WHOLE) // 2], "a.eval is not a readable Inspect AI log"),
    # A byte inside the first sample.
    ("a.eval", WHOLE[:3000] + bytes([WHOLE[3000] ^ 255]) + WHOLE[3001:], "a.eval"),
    ("a.eval", zipped({"header.json": '{"eval": [1]}', "samples/1_epoch_1.json": "{}"}),
     "a.eval is no Inspect AI log: its header.json has no object as 'eval'"),
    ("a.eval", zipped({"header.json": HEADER, "samples/1_epoch_1.json": '{"x": ' + "9" * 6000 + "}"}),
     "is not valid JSON (a number in it has more than 4,300 digits; write it as a text, in quotes)"),
    ("a.eval", zipped({"header.json": HEADER, f"samples/1_epoch_{'9' * 5000}.json": "{}"}), "is not named as Inspect AI names"),
    ("a.eval", zipped({"readme.txt": "nothing"}), "a.eval is no Inspect AI log: it has no header.json"),
    ("a.eval", zipped({"header.json": HEADER, "samples/a_epoch_1/sample.json": "{}"}), "keeps its samples in pieces"),
    ("a.eval", zipped({"header.json": HEADER, "samples/1_epoch_1.json": "{}", "samples/2_run_1.json": "{}"}),
     "a.eval holds samples/2_run_1.json, which is not named as Inspect"),
    ("a.json", logged(None), "without samples"),
    ("a.json", logged([]), "holds no samples"),
    ("a.json", logged([{"output": "x"}]), "is not built as"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "sentence"), WRONG_LOGS, ids=[row[-1] for row in WRONG_LOGS])
def test_what_is_no_whole_log(tmp_path: Path, bring: Bring, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=re.escape(sentence)):
        bring(tmp_path / name, INSPECT)


@pytest.mark.parametrize(("file", "stated", "sentence"), [
    ("promptfoo.json", "inspect", "is not an .eval or .json log of Inspect AI, which import.format says it is"),
    ("inspect.json", "promptfoo", "is not a .json or .jsonl output of promptfoo, which import.format says it is"),
    ("promptfoo.jsonl", "lm_eval", "is not a samples_….jsonl log of lm-evaluation-harness, which import.format says it is"),
    ("inspect.eval", "lm_eval", "is not a samples_….jsonl log of lm-evaluation-harness, which import.format says it is"),
    ("inspect.eval", "", "has no column 'sample.metadata.rase'; did you mean 'sample.metadata.race'"),
])  # fmt: skip
def test_a_log_that_does_not_fit_the_audit(
    bring: Bring, ledger_path: Path, file: str, stated: str, sentence: str
) -> None:
    columns = INSPECT if stated else {**INSPECT, "race": "sample.metadata.rase"}
    changes = [("import:\n", f"import:\n  format: {stated}\n")] if stated else []
    with pytest.raises(InputError, match=re.escape(f"{file} {sentence}")):
        bring(LOGS / file, columns, *changes)
    assert not ledger_path.exists()
