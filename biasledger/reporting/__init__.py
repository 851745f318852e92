"""The report: one HTML file with verdicts, pictures and the SQL behind them, which works from disk without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.files.replacing import write_whole

if TYPE_CHECKING:
    from biasledger.reporting.picture import Panel


def render(
    warehouse: Path,
    run_ids: Sequence[str] = (),
    *,
    ledger: Path | None = None,
    with_examples: bool = False,
) -> str:
    """The report on a built warehouse as HTML; the same warehouse and ledger give the same bytes in UTF-8.

    Args:
        warehouse: a published or built warehouse; only its schemas marts and settings are read.
        run_ids: the runs to report on; without any all, the latest of each audit and target in full.
        ledger: what the warehouse was built from, which says what was asked; a run that it does not hold, or a ledger that cannot
            be read, leaves that out.
        with_examples: whether to show two whole answers of the ledger next to each audit with an alarm, also where they are not
            simulated.

    Raises:
        InputError: no such warehouse or run, or the extra `report` is not installed.
        BiasledgerError: the warehouse cannot be read.
    """
    require_extra()
    from biasledger.reporting.page import assemble
    from biasledger.reporting.source import open_warehouse

    with open_warehouse(warehouse) as source:
        return assemble(source, run_ids, ledger=ledger, with_examples=with_examples)


def panels(warehouse: Path, run_ids: Sequence[str] = ()) -> Mapping[str, Panel]:
    """The charts of the report by their names.

    Raises:
        as `render`.
    """
    require_extra()
    from biasledger.reporting.page import read_panels
    from biasledger.reporting.source import open_warehouse

    with open_warehouse(warehouse) as source:
        return read_panels(source, run_ids)


def write_report(
    warehouse: Path,
    output: Path,
    run_ids: Sequence[str] = (),
    *,
    ledger: Path | None = None,
    with_examples: bool = False,
) -> int:
    """Write the report into a file, whole or not at all.

    Returns:
        Its size in bytes.

    Raises:
        InputError: as `render`, or the file's folder does not exist.
        BiasledgerError: as `render`.
    """
    if output.is_dir():
        raise InputError(f"{output} is a folder: name the file to write, such as {output / 'report.html'}.")
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {output.parent} to write {output.name} into.")
    page = render(warehouse, run_ids, ledger=ledger, with_examples=with_examples).encode()
    write_whole(output, page)
    return len(page)


def require_extra() -> None:
    """Check that what draws the charts is installed.

    Raises:
        InputError: it is not; names the extra.
    """
    if find_spec("vl_convert") is None:
        raise InputError("The report needs vl-convert-python: pip install 'biasledger[report]'.")
