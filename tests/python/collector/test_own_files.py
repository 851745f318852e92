"""Test answers in workbooks, JSON arrays, folders of datasets and other encodings, and the errors about odd ones."""

from __future__ import annotations

import csv
import json
import re
import sys
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
from pyarrow import parquet

from collector.errors import InputError
from collector.importers.draft import Drafted, draft_spec
from collector.importers.preview import preview_file
from collector.importers.tabular import import_runs
from collector.spec.loading import load_audit
from collector.tables import excel
from collector.tables.source import AS_IT_LOOKS, Form, content_hash, open_source, read_table, source_columns

ROWS = [(["Black", "White"][number % 2], f"Dear customer {number}, thanks.") for number in range(6)]
HEADER = ["race", "answer"]
AUDIT = """\
audit: own
attributes: {race: {reference: White, groups: [White, Black, Asian]}}
answer: {kind: text}
import: {columns: {text: answer, attributes: {race: race}}}
"""
LABELS = {"info": {"features": {"race": {"names": ["Black", "White"], "_type": "ClassLabel"}}}}


def read(path: Path, form: Form = AS_IT_LOOKS, columns: Any = HEADER) -> list[tuple[Any, ...]]:
    return read_table(path, columns, form)


def workbook(path: Path, change: Callable[[Any], None] = lambda _sheet: None) -> Path:
    """A workbook whose second sheet holds the rows below a blank one, with a blank one at the end."""
    book = openpyxl.Workbook()
    book.active.append(["nothing here"])
    sheet = book.create_sheet("answers")
    for row in ([], [" race ", "answer", None, "n"], *([*row, None, 1.0] for row in ROWS), []):
        sheet.append(row)
    change(sheet)
    book.save(path)
    return path


def rewritten(file: Path, change: Callable[[str, bytes], bytes], **more: str) -> Path:
    """Write a workbook whose parts are changed, with more of them."""
    with (
        zipfile.ZipFile(workbook(file.with_name("right.xlsx"))) as right,
        zipfile.ZipFile(file, "w") as wrong,
    ):
        for name in right.namelist():
            wrong.writestr(name, change(name, right.read(name)))
        for name, text in more.items():
            wrong.writestr(name, text)
    return file


def as_saved(folder: Path) -> Path:
    """Write a dataset as save_to_disk does: one split in two files, with groups as numbered classes."""
    split = folder / "train"
    split.mkdir(parents=True)
    table = dataset()
    for number in range(2):
        with (
            pa.OSFile(str(split / f"data-0000{number}-of-00002.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as writer,
        ):
            writer.write_table(table.slice(number * 3, 3))
    names = [{"filename": f"data-0000{number}-of-00002.arrow"} for number in range(2)]
    (split / "state.json").write_text(json.dumps({"_data_files": names, "_indices_data_files": None}))
    (folder / "dataset_dict.json").write_text('{"splits": ["train"]}')
    return folder


def as_published(folder: Path) -> Path:
    """Write a dataset's repository: Parquet files of two splits, and files that do not belong to the dataset."""
    (folder / "data").mkdir(parents=True)
    (folder / ".cache").mkdir()
    for split in ("train", "test"):
        parquet.write_table(dataset(), folder / "data" / f"{split}-00000-of-00001.parquet")
    (folder / ".cache" / "other.parquet").write_bytes(b"none")
    (folder / "README.md").write_text("a card")
    return folder


def dataset() -> pa.Table:
    classes = [["Black", "White"].index(race) for race, _ in ROWS]
    table = pa.table({"race": pa.array([*classes[:-1], -1]), "answer": [answer for _, answer in ROWS]})
    return table.replace_schema_metadata({b"huggingface": json.dumps(LABELS).encode()})


def as_array(path: Path) -> Path:
    rows = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    path.write_text("\ufeff" + json.dumps(rows, indent=1), encoding="utf-8")
    return path


def as_csv(path: Path, encoding: str) -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream).writerows([HEADER, ["Été", "très bien"], ["Noël", "d’accord"]])
    return path


def test_a_named_sheet_is_read(tmp_path: Path) -> None:
    file, form = workbook(tmp_path / "a.xlsx"), Form(table="answers")
    assert read(file, form) == ROWS
    assert read(file, form, ["n"]) == [("1",)] * 6
    assert source_columns(file, lambda _: True, form) == ["race", "answer", "n"]


def test_the_first_of_several_sheets_is_read_and_reported(tmp_path: Path) -> None:
    file = workbook(tmp_path / "a.xlsx")
    message = "Of the sheets 'Sheet', 'answers' of a.xlsx the first is read; --sheet names another."
    with pytest.raises(InputError) as caught:
        read(file)
    assert str(caught.value) == f"{file} has no column 'race'; known: 'nothing here'. {message}"
    (tmp_path / "a.yml").write_text(AUDIT, encoding="utf-8")
    preview = preview_file(load_audit(tmp_path / "a.yml"), file)
    assert (len(preview.problems), preview.warnings) == (2, [message])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda sheet: sheet.merge_cells("A3:A5"), "the cells A3:A5 of the sheet 'answers' are merged"),
        (lambda sheet: sheet.merge_cells("C3:D5"), None),
        (lambda sheet: sheet.merge_cells("A1:D1"), None),
        (
            lambda sheet: sheet.__setitem__("B4", "=A4"),
            "the cell B4 of the sheet 'answers' holds a formula that was never",
        ),
        (lambda sheet: sheet.__setitem__("D4", "=A4"), None),
        (lambda sheet: sheet.__setitem__("C2", "answer"), "the header holds the column 'answer' twice"),
        (lambda sheet: sheet.delete_rows(1, 9), "the sheet 'answers' is empty"),
        (lambda sheet: sheet.delete_rows(3, 9), "has no rows; it should hold one for each response"),
    ],
)
def test_ambiguous_cells_are_reported(
    tmp_path: Path, change: Callable[[Any], None], message: str | None
) -> None:
    file = workbook(tmp_path / "a.xlsx", change)
    if message is None:
        assert read(file, Form(table="answers")) == ROWS
        return
    with pytest.raises(InputError, match=re.escape(message)):
        read(file, Form(table="answers"))


def test_cells_become_text(tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        sheet["A3"], sheet["A4"], sheet["A5"], sheet["A6"] = date(2024, 10, 19), 7, 2.5, True

    file = workbook(tmp_path / "a.xlsx", change)
    assert [race for race, _ in read(file, Form(table="answers"))[:4]] == ["2024-10-19", "7", "2.5", "true"]


@pytest.mark.parametrize("size", ["A1", "A1:XFD1048576"])
def test_a_sheet_is_read_whole_whatever_it_says_of_its_size(tmp_path: Path, size: str) -> None:
    stated = rb"\g<1>" + size.encode()
    file = rewritten(tmp_path / "a.xlsx", lambda _, part: re.sub(rb'(<dimension ref=")[^"]*', stated, part))
    assert read(file, Form(table="answers")) == ROWS


def test_a_text_as_long_as_a_cell_can_be_is_reported(tmp_path: Path) -> None:
    file = workbook(tmp_path / "a.xlsx", lambda sheet: sheet.__setitem__("B3", "x" * excel.MOST_CHARACTERS))
    with open_source(file, HEADER, Form(table="answers")) as source:
        assert source.notes[0].startswith("1 cell has 32,767 characters, the most that Excel keeps of a text")


def test_a_workbook_that_would_become_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "MAX_DOCUMENT_BYTES", 100)
    sentence = r"would become .* bytes, more than the .* that are read of a workbook"
    with pytest.raises(InputError, match=sentence):
        read(workbook(tmp_path / "a.xlsx"))


@pytest.mark.parametrize("name", ["xl/sharedStrings.xml", "xl/worksheets/texts.xml"])
def test_texts_that_become_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """openpyxl loads them whole; the workbook's own size shows which part they are."""
    texts = f'<sst xmlns="{SHEET_MAIN_NS}"><si><t>{"x" * 20_000}</t></si></sst>'
    part = f'<Override PartName="/{name}" ContentType="{SHARED_STRINGS}"/></Types>'.encode()
    changed = {name: texts}
    file = rewritten(tmp_path / "a.xlsx", lambda _, old: old.replace(b"</Types>", part), **changed)
    assert read(file, Form(table="answers")) == ROWS
    monkeypatch.setattr(excel, "MAX_STRINGS_BYTES", 20_000)
    message = (
        rf"{name} would become 20,... bytes, more than the 0 MiB that are held of a workbook's texts; save"
    )
    with pytest.raises(InputError, match=message):
        read(file, Form(table="answers"))


@pytest.mark.parametrize(
    ("part", "change", "reason"),
    [
        (
            "xl/workbook.xml",
            {"flag_bits": 1},
            "'xl/workbook.xml' is encrypted, password required for extraction",
        ),
        ("[Content_Types].xml", {"flag_bits": 1}, "'[Content_Types].xml' is encrypted, password required"),
        ("xl/worksheets/sheet2.xml", {"compress_type": 98}, "compression method is not supported"),
    ],
)
def test_a_part_that_zipfile_cannot_read(
    tmp_path: Path, part: str, change: dict[str, int], reason: str
) -> None:
    file = tmp_path / "a.xlsx"
    with zipfile.ZipFile(workbook(tmp_path / "right.xlsx")) as right, zipfile.ZipFile(file, "w") as wrong:
        for name in right.namelist():
            wrong.writestr(name, right.read(name))
        for key, value in change.items():
            setattr(wrong.getinfo(part), key, value)
    with pytest.raises(InputError) as caught:
        read(file, Form(table="answers"))
    assert str(caught.value).startswith(f"{file} is not a readable Excel workbook (")
    assert reason in str(caught.value)


@pytest.mark.parametrize(("module", "extra"), [("openpyxl", "excel"), ("pyarrow", "datasets")])
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    file = workbook(tmp_path / "a.xlsx") if extra == "excel" else as_published(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"needs {module}: pip install 'biasledger\[{extra}\]'"):
        source_columns(file, lambda _: True, Form(table="train" if extra == "datasets" else None))


@pytest.mark.parametrize("kind", ["saved", "published"])
def test_a_dataset_is_read_with_its_classes_by_name(tmp_path: Path, kind: str) -> None:
    folder = (as_saved if kind == "saved" else as_published)(tmp_path / "d")
    form = Form(table=None if kind == "saved" else "train")
    # -1 is no class.
    expected = [*ROWS[:-1], (None, ROWS[-1][1])]
    assert read(folder, form) == expected
    assert source_columns(folder, lambda _: True, form) == HEADER
    if kind == "saved":
        assert read(folder / "train") == expected


def test_a_datasets_hash_is_that_of_its_files(tmp_path: Path) -> None:
    folder, other = as_saved(tmp_path / "a"), as_saved(tmp_path / "b")
    assert content_hash(folder) == content_hash(other)
    (other / "train" / "data-00001-of-00002.arrow").write_bytes(b"changed")
    assert content_hash(folder) != content_hash(other)


FIRST = "data-00000-of-00002.arrow"
INDICES = '{"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}'


@pytest.mark.parametrize(("change", "message"), [
    (lambda split: (split / FIRST).unlink(), "state.json names no Arrow files that are there; save the dataset again."),
    (lambda split: (split / FIRST).write_bytes(b"nothing of the kind"), "is not a readable file of a dataset"),
    (lambda split: (split / "state.json").write_text(INDICES), "load it, call flatten_indices() and save it again"),
])  # fmt: skip
def test_a_damaged_dataset_is_reported(tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
    folder = as_saved(tmp_path / "d")
    change(folder / "train")
    with pytest.raises(InputError, match=re.escape(message)):
        read(folder)


@pytest.mark.parametrize(
    "split", ["../other", "..", ".", "", "/tmp", "a/b", "..\\\\other", "C:other", "a\\u0000b", "\\ud800"]
)
def test_a_split_leads_nowhere_else(tmp_path: Path, split: str) -> None:
    as_saved(tmp_path / "d" / "inner")
    (as_saved(tmp_path / "d") / "train").rename(tmp_path / "other")
    (tmp_path / "d" / "dataset_dict.json").write_text(f'{{"splits": ["{split}"]}}')
    for form in (AS_IT_LOOKS, Form(table="train")):
        sentence = r"dataset_dict\.json names the split .*, which is no name of a folder"
        with pytest.raises(InputError, match=sentence):
            read(tmp_path / "d", form)


def _arrow(file: Path, table: pa.Table) -> None:
    with pa.OSFile(str(file), "wb") as stream, pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("kind", ["saved", "published"])
def test_two_columns_of_one_name_are_reported(tmp_path: Path, kind: str) -> None:
    twice = pa.table([["White"], ["Black"], ["Dear you."]], names=["race", "race", "answer"])
    if kind == "saved":
        folder, form = as_saved(tmp_path / "d"), Form()
        # The second of two files, after the output was opened.
        file = folder / "train" / "data-00001-of-00002.arrow"
        _arrow(file, twice)
    else:
        folder, form = as_published(tmp_path / "d"), Form(table="train")
        file = folder / "data" / "train-00000-of-00001.parquet"
        parquet.write_table(twice, file)
    with pytest.raises(InputError) as caught:
        read(folder, form)
    said = {
        "saved": " holds the column 'race' twice; each needs its own name.",
        "published": ": the columns 'race' and 'race' have one name, or differ in capitals alone; rename one of them.",
    }
    assert str(caught.value) == f"{file}{said[kind]}"


def test_what_is_written_of_a_dataset_is_closed_on_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    class Writer(parquet.ParquetWriter):
        def __init__(self, *args: Any, **others: Any) -> None:
            super().__init__(*args, **others)
            opened.append(self)

    monkeypatch.setattr(parquet, "ParquetWriter", Writer)
    folder = as_saved(tmp_path / "d")
    (folder / "train" / "data-00001-of-00002.arrow").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"00001-of-00002\.arrow is not a readable file of a dataset"):
        read(folder)
    assert [one.is_open for one in opened] == [False]


def test_splits_and_folders_of_a_repository_are_named(tmp_path: Path) -> None:
    folder = as_published(tmp_path / "hub")
    with pytest.raises(InputError, match=r"hub has the splits 'test', 'train'; name one with --split\."):
        read(folder)
    with pytest.raises(InputError, match=r"hub has no split 'trian'; did you mean 'train'\?$"):
        read(folder, Form(table="trian"))
    with pytest.raises(InputError, match="hub has no column 'rac'; did you mean 'race'"):
        read(folder, Form(table="train"), ["rac"])
    (folder / "other").mkdir()
    parquet.write_table(dataset(), folder / "other" / "0000.parquet")
    with pytest.raises(InputError, match="hub holds several datasets; name the folder of one"):
        read(folder, Form(table="train"))
    (tmp_path / "none").mkdir()
    sentence = "none is a folder and no dataset; name a file, or a folder that save_to_disk"
    with pytest.raises(InputError, match=sentence):
        read(tmp_path / "none")


def test_an_array_in_json(tmp_path: Path) -> None:
    assert read(as_array(tmp_path / "a.json")) == ROWS
    assert source_columns(tmp_path / "a.json", lambda _: True) == ["answer", "race"]


@pytest.mark.parametrize(("text", "message"), [
    ('[{"race": "Black", "answer": "x"}, 7]', "a.json: element 2 is a JSON int; each should be an object."),
    ('[{"race": "Black", "answer": "x"}', "a.json is not valid JSON (Expecting ',' delimiter: line 1 column 34 (char 33))."),
    ('[{"race": "Black", "answer": "\\ud800"}]', "a.json: element 1 has half a surrogate pair"),
    ("[]", "a.json has no rows; it should hold one for each response."),
    ('{"race": {"0": "Black"}}', "nor an array of objects, [{…}, …] (of pandas: to_json(orient='records'))"),
])  # fmt: skip
def test_a_wrong_array_is_reported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_an_encoding_that_is_named(tmp_path: Path, encoding: str) -> None:
    file = as_csv(tmp_path / "a.csv", encoding)
    assert read(file, Form(encoding=encoding)) == [("Été", "très bien"), ("Noël", "d’accord")]
    assert source_columns(file, lambda _: True, Form(encoding=encoding)) == HEADER


@pytest.mark.parametrize(
    ("encoding", "stated", "message"),
    [
        (
            "cp1252",
            None,
            "line 2 is not UTF-8; save the file as UTF-8, or give import, validate or new its --encoding, such as",
        ),
        ("cp1252", "ascii", "cannot be read as ascii, at line 1 or soon after; name another encoding."),
        ("cp1252", "rot13", "There is no encoding 'rot13'; known are utf-8"),
        ("cp1252", "windoze", "There is no encoding 'windoze'; known are utf-8"),
        ("cp1252", "a\0b", r"There is no encoding 'a\x00b'; known are utf-8"),
        ("cp1252", "\ud800", r"There is no encoding '\ud800'; known are utf-8"),
    ],
)
def test_wrong_encodings_are_reported(
    tmp_path: Path, encoding: str, stated: str | None, message: str
) -> None:
    file = as_csv(tmp_path / "a.csv", encoding)
    with pytest.raises(InputError, match=re.escape(message)):
        read(file, Form(encoding=stated))


def test_what_does_not_go_with_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no encoding to name; leave --encoding out"):
        read(workbook(tmp_path / "a.xlsx"), Form(encoding="cp1252"))
    with pytest.raises(InputError, match="is one table; leave --sheet out"):
        read(as_array(tmp_path / "a.json"), Form(table="x"))
    (tmp_path / "a.xls").write_bytes(b"x")
    with pytest.raises(InputError, match=r"\.xls is not read; save it as \.xlsx"):
        read(tmp_path / "a.xls")


def test_values_like_nothing_or_a_date_are_reported_with_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(AUDIT, encoding="utf-8")
    file = tmp_path / "a.csv"
    rows = [("nan", "Dear you."), ("19-Oct", "Dear all."), ("", "Dear one."), ("#n/a", "Dear one.")]
    for word, message in (
        (0, """row 7 has no 'race' but 'nan'; it should be one of 'White', 'Black', 'Asian', or import.values says what"""),
        (3, "row 7 has no 'race' but '#n/a'; it should be one of"),
        (1, "which looks like a date, which spreadsheets make of groups such as 10-19, and is no group of race"),
        (2, """or import.values says what an empty cell means: {race: {"": null}}."""),
    ):  # fmt: skip
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([HEADER, *ROWS, rows[word]])
        with pytest.raises(InputError, match=re.escape(message)):
            import_runs(load_audit(tmp_path / "a.yml"), tmp_path / "a.yml", file, tmp_path / "l.duckdb")


def test_an_import_tells_what_is_odd_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(AUDIT, encoding="utf-8")

    def change(sheet: Any) -> None:
        sheet["B3"], sheet["B4"] = "nan", "None"

    audit = load_audit(tmp_path / "a.yml").with_form(table="answers")
    (summary,) = import_runs(
        audit, tmp_path / "a.yml", workbook(tmp_path / "a.xlsx", change), tmp_path / "l.duckdb"
    )
    *_, silent, missing = summary.warnings
    assert silent == "No row names a group that the audit declares: 'Asian' of race."
    assert missing == "answer: 2 missing (1 None, 1 nan)."


def test_a_draft_says_how_its_file_is_read_and_what_looks_odd(tmp_path: Path) -> None:
    def change(sheet: Any) -> None:
        sheet["A3"] = sheet["A4"] = date(2024, 10, 19)

    file = workbook(tmp_path / "a.xlsx", change)
    draft = draft_spec("a", file, Drafted("answer", {"race": None}, form=Form(table="answers")))
    assert "import:\n  table: answers\n" in draft.text
    (note,) = draft.notes
    assert note == (
        "'2024-10-19' looks like a date, which spreadsheets make of groups such as 10-19, and is taken for a group of race: "
        "where it is none, take it from groups and write import.values: {race: {'2024-10-19': GROUP}}."
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'<row r="3"', b'<row r="2000000000"', "goes on beyond row 1,048,576, column XFD or"),
        (
            b"</row></sheetData>",
            b'<c r="XFE9"/></row></sheetData>',
            "goes on beyond row 1,048,576, column XFD or",
        ),
        (
            b"</sheetData>",
            b"x" * (3 << 20) + b"</sheetData>",
            "has more than 1,048,576 characters; Excel keeps 32,767",
        ),
    ],
)
def test_sheets_beyond_the_limits_of_excel(tmp_path: Path, old: bytes, new: bytes, sentence: str) -> None:
    def change(name: str, part: bytes) -> bytes:
        return part.replace(old, new) if name.startswith("xl/worksheets/") else part

    with pytest.raises(InputError, match=sentence):
        read(rewritten(tmp_path / "a.xlsx", change), Form(table="answers"))


@pytest.mark.parametrize("kind", ["repeated", "long", "published"])
def test_parquet_that_becomes_far_more_than_it_is(tmp_path: Path, kind: str) -> None:
    """Its own account, and texts that it holds once for many rows, are known before they are read."""
    n = 3000
    text = "x" * 1_000_000
    answers = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text]))
    if kind == "long":
        answers = pa.chunked_array([pa.array([text] * 600)] * 2)
    table = pa.table({"answer": answers, "race": ["White"] * len(answers)})
    file = tmp_path / "d" / "train-00000-of-00001.parquet"
    file.parent.mkdir()
    parquet.write_table(table, file, compression="zstd", use_dictionary=kind != "long", row_group_size=600)
    sentence = r"would become [123],\d+,\d+,\d+ bytes, .* write it as several files"
    with pytest.raises(InputError, match=sentence):
        read(file.parent if kind == "published" else file, columns=["answer"])
