"""How many shapes of replies are read right, wrong, or not at all: by the code here, and by that of an older commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from benchmarks.processes import PACKAGE_PARENT
from benchmarks.reading.shapes import load

FOLDER = Path(__file__).parent
REFUSALS = PACKAGE_PARENT / "tests" / "python" / "collector" / "refusals"
# In the order of the table.
KINDS = ("decisions", "scores", "money", "lists", "refusals", "failures", "thinking", "conversations")
Outcome = Literal["right", "wrong", "unread"]
# It runs with the code of either commit, so it uses what both have.
_READER = """
import inspect, json, sys
from collector.answers.replies import classify
known = set(inspect.signature(classify).parameters)
for line in sys.stdin:
    case = json.loads(line)
    form = {name: value for name, value in case["form"].items() if name in known}
    try:
        answer = classify(case["text"], form.pop("kind"), 200_000, case["finish_reason"], **form)
        print(json.dumps([answer.status, answer.answer_text]))
    except Exception as error:
        print(json.dumps(["error", str(error)]))
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, and what is right to read from it.

    Attributes:
        kind: one of KINDS.
        text: the reply.
        form: the kind of answer that was asked for, and what the audit says of reading it.
        status: the status that is right; None for any but ok.
        answer: the answer that is right, where the status is ok and it matters.
        finish_reason: why the endpoint stopped.
    """

    kind: str
    text: str | None
    form: Mapping[str, Any] = field(hash=False)
    status: str | None = "ok"
    answer: str | None = None
    finish_reason: str | None = None

    def outcome(self, status: str, answer: str | None) -> Outcome:
        """Return right, wrong (another answer, or an answer where there is none), or unread (no answer where there is one)."""
        if self.status == "ok":
            if status != "ok":
                # An answer that is called a refusal counts against a group, so it is as wrong as another value.
                return "wrong" if status == "refused" else "unread"
            return "right" if self.answer is None or answer == self.answer else "wrong"
        if status == "ok":
            return "wrong"
        return "right" if self.status in (None, status) else "unread"


def cases() -> Iterator[Case]:
    """Yield the cases of all kinds."""
    for kind in ("decisions", "scores", "money"):
        for shape in load(kind):
            form = {"kind": "label" if kind == "decisions" else "score", **shape.settings}
            yield Case(kind, shape.text, form, "ok" if shape.want is not None else None, shape.want)
    yield from _lists()
    for path in sorted(REFUSALS.glob("*.yml")):
        sentences = _read(path)
        yield from (Case("refusals", text, {"kind": "text"}, "refused") for text in sentences["refusals"])
        yield from (Case("refusals", text, {"kind": "text"}) for text in sentences["answers"])
    yield from _failures()
    yield from _thinking()
    yield from _conversations()


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _lists() -> Iterator[Case]:
    from benchmarks.reading.list_shapes import list_shapes

    for text, want in list_shapes():
        form = {"kind": "list", "k": len(want) if want else 5}
        yield Case("lists", text, form, "ok" if want else None, "\n".join(want) if want else None)


def _failures() -> Iterator[Case]:
    for shape in _read(FOLDER / "failures.yml")["shapes"]:
        if "finish_reason" in shape:
            text = "Tea." if shape["status"] == "ok" else ""
            yield Case(
                "failures", text, {"kind": "text"}, shape["status"], finish_reason=shape["finish_reason"]
            )
        elif "answer" in shape:
            yield Case("failures", shape["answer"], {"kind": "text"}, shape["status"])


def _thinking() -> Iterator[Case]:
    document = _read(FOLDER / "thinking.yml")
    form = {"kind": "label", "labels": document["labels"]}
    for reasoning in document["reasonings"]:
        for wrapper in document["wrappers"]:
            for answer in document["answers"]:
                text = wrapper.replace("{reasoning}", reasoning).replace("{answer}", answer)
                yield Case("thinking", text, form, "ok", "accept")
        for wrapper in document["cut_off"]:
            yield Case("thinking", wrapper.replace("{reasoning}", reasoning), form, "truncated")


def _conversations() -> Iterator[Case]:
    document = _read(FOLDER / "conversations.yml")
    form = {"kind": "label", "labels": document["labels"]}
    for turns in document["turns"]:
        for shape in document["forms"]:
            words = shape.get("words", {})
            for has_parts in document["has_parts"]:
                messages = [
                    {
                        shape["role"]: words.get(role, role),
                        shape["content"]: [{"type": "text", "text": text}] if has_parts else text,
                    }
                    for role, text in turns
                ]
                for wrapper in document["wrappers"]:
                    value = messages if wrapper is None else {wrapper: messages}
                    yield Case("conversations", json.dumps(value), form, "ok", "accept")
        for heading in document["headings"]:
            if turns[0][0] == "user":
                text = "".join(
                    heading.format(role=role.capitalize(), lower=role, text=said) for role, said in turns
                )
                yield Case("conversations", text, form, "ok", "accept")
    yield from (Case("conversations", text, {"kind": "text"}, "ok", text) for text in document["others"])


def read(listed: Sequence[Case], code: Path) -> list[tuple[str, str | None]]:
    """Read cases with the code in a folder, in a process of its own; return status and answer of each."""
    lines = "".join(json.dumps(asdict(case), default=list) + "\n" for case in listed)
    done = subprocess.run(
        [sys.executable, "-c", _READER],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        cwd=code,
        env={**os.environ, "PYTHONPATH": str(code)},
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def read_at(listed: Sequence[Case], commit: str) -> list[tuple[str, str | None]]:
    """Read cases with the code of a commit."""
    with tempfile.TemporaryDirectory(prefix="biasledger-") as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "collector"], capture_output=True, check=True, cwd=PACKAGE_PARENT
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        return read(listed, Path(folder))


def counts(listed: Sequence[Case], found: Sequence[tuple[str, str | None]]) -> dict[str, Counter[Outcome]]:
    """Return kind -> outcome -> how many cases have it."""
    counted: dict[str, Counter[Outcome]] = {kind: Counter() for kind in KINDS}
    for case, (status, answer) in zip(listed, found, strict=True):
        counted[case.kind][case.outcome(status, answer)] += 1
    return counted


def run(against: str | None, *, n_shown: int = 10) -> bool:
    """Print the table of all kinds, and some of the wrong readings; return whether none is wrong."""
    listed = list(cases())
    found = read(listed, PACKAGE_PARENT)
    now = counts(listed, found)
    before = counts(listed, read_at(listed, against)) if against else {}
    titles = [
        "kind",
        "shapes",
        *(["right before", "wrong before"] if before else []),
        "right",
        "unread",
        "wrong",
    ]
    print("| " + " | ".join(titles) + " |")
    print("|---|" + "---:|" * (len(titles) - 1))
    for kind in (*KINDS, "all"):
        of_now, of_before = (
            sum(one.values(), Counter()) if kind == "all" else one.get(kind, Counter())
            for one in (now, before)
        )
        n = of_now.total()
        earlier = (
            [f"{100 * of_before['right'] / max(n, 1):.1f} %", f"{of_before['wrong']:,}"] if before else []
        )
        cells = [
            f"{100 * of_now['right'] / max(n, 1):.1f} %",
            f"{of_now['unread']:,}",
            f"{of_now['wrong']:,}",
        ]
        print("| " + " | ".join([kind, f"{n:,}", *earlier, *cells]) + " |")
    wrong = [(case, got) for case, got in zip(listed, found, strict=True) if case.outcome(*got) == "wrong"]
    for case, (status, answer) in wrong[:n_shown]:
        print(
            f"Wrong ({case.kind}): {case.text!r}: {status}, {answer!r}; right: {case.status}, {case.answer!r}"
        )
    return not wrong
