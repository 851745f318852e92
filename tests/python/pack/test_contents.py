"""Test the tables of a pack: safe to open in a spreadsheet, and the same when they are read again."""

from __future__ import annotations

import duckdb
import pytest

from biasledger.packing.contents import csv_bytes, parse_table
from collector.errors import InputError

TEXTS = ["=cmd()", "+1", "-x", "@a", "\tb", "＝c", "'=d", "''=e", "'f", "g", "", "a=b", '=\r\nh,"i"']


def test_no_cell_is_a_formula_and_every_text_comes_back() -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute('create table cells (place integer, "=name" varchar, value double)')
        connection.executemany(
            "insert into cells values (?, ?, ?)", [[place, text, -0.5] for place, text in enumerate(TEXTS)]
        )
        content = csv_bytes(connection, "select * from cells order by place")
    lines = content.decode().splitlines()
    assert lines[0] == "place,'=name,value"
    assert lines[1] == "0,'=cmd(),-0.5", "numbers are left alone"
    assert [row["=name"] for row in parse_table(content, "cells")] == TEXTS
    assert {row["value"] for row in parse_table(content, "cells")} == {"-0.5"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cells is no table"),
        (b"\xff\xfe\n", "cells is no table"),
        (b'a,b\n"1,2\n', "cells is no table"),
        (b"a,a\n1,2\n", "cells has two columns of the same name"),
        (b"a,b\n1,2\n1\n", "cells: row 3 has 1 cells; it should have 2"),
    ],
)
def test_what_is_no_table_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_table(content, "cells")
