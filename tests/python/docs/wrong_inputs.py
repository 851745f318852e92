"""Wrong inputs of new users, and the sentence that answers each: wrong_inputs.txt, and the commonest in docs/own-data.md.

python -m tests.python.docs.wrong_inputs docs/own-data.md    # write both tables anew
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from biasledger.cli import cli

ALL = Path(__file__).with_suffix(".txt")
BEGIN, END = "<!-- wrong inputs -->\n", "<!-- end of wrong inputs -->"
SPEC = """\
audit: loans
attributes: {sex: {reference: m, groups: [m, f]}}
answer: {kind: label, labels: [accept, reject]}
import: {columns: {text: reply, subject: case, attributes: {sex: sex}}}
"""
ROWS = "case,sex,reply\n1,m,accept\n2,f,reject\n"
_GOOD = ROWS.encode()
_NESTED = b'{"case": 1, "sex": "m", "reply": {"text": "accept"}}'
_JSON = '{"case": 1, "sex": "m", "reply": "accept"}'


@dataclass(frozen=True)
class Wrong:
    """A wrong input: its file (bytes, or what makes it), and the spec and options if they are not the usual ones."""

    what: str
    file: str = "answers.csv"
    content: bytes | Callable[[Path], object] | None = _GOOD
    spec: str = SPEC
    options: tuple[str, ...] = ()


def _workbook(change: Callable[..., object]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = "answers"
        for row in (["case", "sex", "reply"], [1, "m", "accept"], [2, "f", "reject"]):
            book.active.append(row)
        change(book.active)
        book.save(path)

    return write


def _dataset(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    path.mkdir()
    for split in ("train", "test"):
        table = pa.table({"case": [1], "sex": ["m"], "reply": ["accept"]})
        parquet.write_table(table, path / f"{split}-00000-of-00001.parquet")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "1.json").write_text(_JSON, encoding="utf-8")
    (path / "2.json").write_text("{case: 2}", encoding="utf-8")


CASES = (
    Wrong("a name that is mistyped", content=None),
    Wrong("a folder with nothing to read", "answers", Path.mkdir),
    Wrong("an older workbook", "answers.xls", b"x"),
    Wrong("an ending that says nothing", "answers.dat", b"x"),
    Wrong("an empty file", content=b""),
    Wrong("a header alone", content=b"case,sex,reply\n"),
    Wrong("text from Windows", content=b"case,sex,reply\n1,m,d\xe9sol\xe9\n"),
    Wrong("the wrong encoding", content=b"case,sex,reply\n1,m,d\xe9\n", options=("--encoding", "ascii")),
    Wrong("an unknown encoding", options=("--encoding", "windoze")),
    Wrong("a column that is called otherwise", content=ROWS.replace("reply", "replies").encode()),
    Wrong("a column that is there twice", content=b"case,sex,reply,reply\n1,m,accept,x\n"),
    Wrong("a comma without quotes", content=b"case,sex,reply\n1,m,well, accept\n"),
    Wrong("a group that is mistyped", content=ROWS.replace("f,", "ff,").encode()),
    Wrong("a group that is left empty", content=ROWS.replace("f,", ",").encode()),
    Wrong("a group that a program wrote as nothing", content=ROWS.replace("f,", "NaN,").encode()),
    Wrong("a group that a spreadsheet took for a date", content=ROWS.replace("f,", "19-Oct,").encode()),
    Wrong("a trial that is no number", content=ROWS.replace("1,", "one,").encode(), spec=SPEC.replace("{t", "{trial: case, t")),
    Wrong("a line that is no JSON", "answers.jsonl", f"{_JSON}\n{{case: 2}}\n".encode()),
    Wrong("an array of something else", "answers.json", b"[1, 2]"),
    Wrong("a frame saved by columns", "answers.json", json.dumps({"case": {"0": 1}}).encode()),
    Wrong("a Parquet file that was cut off", "answers.parquet", b"PAR1"),
    Wrong("a key that no object has", "answers.jsonl", _NESTED, spec=SPEC.replace("text: reply", "text: reply.txt")),
    Wrong("a folder with a file that is no JSON", "answers", _folder),
    Wrong("a workbook with a password", "answers.xlsx", b"\xd0\xcf\x11\xe0"),
    Wrong("a sheet that is called otherwise", "answers.xlsx", _workbook(lambda _: None), options=("--sheet", "answer")),
    Wrong("merged cells", "answers.xlsx", _workbook(lambda sheet: sheet.merge_cells("B2:B3"))),
    Wrong("a formula that was never computed", "answers.xlsx", _workbook(lambda sheet: sheet.__setitem__("C2", "=A1"))),
    Wrong("a dataset of several splits", "answers", _dataset),
    Wrong("a sheet of what has none", options=("--sheet", "answers")),
    Wrong("a key that is mistyped", spec=SPEC.replace("attributes: {sex: {ref", "attributs: {sex: {ref")),
    Wrong("a kind of answers that is left out", spec=SPEC.replace("kind: label, labels: [accept, reject]", "")),
    Wrong("a reference that is no group", spec=SPEC.replace("reference: m", "reference: male")),
    Wrong("an audit that says nothing of columns", spec=SPEC.partition("import:")[0]),
    Wrong("a spec that is no YAML", spec="audit: loans\n\tattributes: x\n"),
)  # fmt: skip


def answer_of(wrong: Wrong, folder: Path) -> str:
    """Return the message of `biasledger import`, in a folder that becomes the working folder."""
    (folder / "loans.yml").write_text(wrong.spec, encoding="utf-8")
    file = folder / wrong.file
    if isinstance(wrong.content, bytes):
        file.write_bytes(wrong.content)
    elif wrong.content is not None:
        wrong.content(file)
    with contextlib.chdir(folder):
        done = CliRunner().invoke(cli, ["import", "loans.yml", wrong.file, *wrong.options])
    assert done.exit_code == 3, done.output
    assert not (folder / "ledger.duckdb").exists()
    (error, *rest) = done.stderr.splitlines()
    assert not rest, done.stderr
    return error.removeprefix("Error: ")


COMMON = {
    "text from Windows",
    "a column that is called otherwise",
    "a comma without quotes",
    "a group that is mistyped",
    "a group that is left empty",
    "a group that a spreadsheet took for a date",
    "merged cells",
}
"""The wrong inputs that the document shows."""


def answers() -> dict[str, str]:
    """The message for each wrong input."""
    said = {}
    for wrong in CASES:
        with tempfile.TemporaryDirectory() as folder:
            said[wrong.what] = answer_of(wrong, Path(folder))
    return said


def table(said: dict[str, str], shown: Collection[str]) -> str:
    """The table of some messages, in Markdown."""
    lines = ["| what is wrong | what `biasledger import` says |", "|---|---|"]
    lines += [f"| {what} | {said[what].replace('|', chr(92) + '|')} |" for what in said if what in shown]
    return "\n".join([*lines, ""])


def main(document: Path) -> None:
    """Write all messages into a file, and the common ones into a document, between its two marks."""
    said = answers()
    ALL.write_text(table(said, said), encoding="utf-8")
    text = document.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    document.write_text(
        f"{before}{BEGIN}{table(said, COMMON)}{END}{rest.partition(END)[2]}", encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
