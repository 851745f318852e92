"""Folders of Hugging Face `datasets`: what `save_to_disk` wrote (Arrow), and the Parquet files of a dataset repository.

They are read through pyarrow and not through `datasets`, which brings a client of the hub and some thirty packages to read files
whose form is public. A class label, kept as a number, becomes its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.hints import did_you_mean, ended, quoted, shown
from collector.tables.columns import find_column, missing_column
from collector.tables.log_rows import no_rows, read_object

if TYPE_CHECKING:
    import pyarrow as pa

_SPLITS, _STATE = "dataset_dict.json", "state.json"
# train-00000-of-00002.parquet, and of older ones with a fingerprint behind it.
_SHARD = re.compile(r"(?P<split>.+?)-\d+-of-\d+(?:-[0-9a-f]+)?")
_WHAT = "a folder that save_to_disk of Hugging Face datasets wrote, or one of Parquet or JSON files"


def dataset_files(path: Path, split: str | None) -> list[Path]:
    """Return the files of a dataset, in the order of its rows.

    Args:
        path: the folder.
        split: which split of it; may be left out where there is one.

    Raises:
        InputError: it is no dataset, was saved by a version too old, or has no such split, or several and none is named, or
            one whose name may lead elsewhere.
    """
    if (path / _SPLITS).is_file():
        names = read_object(path / _SPLITS).get("splits")
        if not isinstance(names, list):
            raise InputError(f"{path / _SPLITS} names no splits.")
        splits = [str(name) for name in names]
        for name in splits:
            if not _is_plain(name):
                raise InputError(
                    f"{path / _SPLITS} names the split {shown(name)}, which is no name of a folder within it."
                )
        return _saved(path / _chosen(path, splits, split))
    if (path / _STATE).is_file():
        if split is not None:
            raise InputError(f"{path} is one split of a dataset; leave --split out.")
        return _saved(path)
    return _published(path, split)


def is_dataset(path: Path) -> bool:
    """Return whether a folder is one of a dataset: saved, or with Parquet files in it or below."""
    return (
        (path / _SPLITS).is_file()
        or (path / _STATE).is_file()
        or next(path.rglob("*.parquet"), None) is not None
    )


def _is_plain(name: str) -> bool:
    """Return whether a name leads to no folder but one within, on any system."""
    return name.isprintable() and name not in ("", ".", "..") and PureWindowsPath(name).name == name


def _saved(path: Path) -> list[Path]:
    """Return the Arrow files that `save_to_disk` wrote."""
    state = read_object(path / _STATE)
    if state.get("_indices_data_files"):
        raise InputError(
            f"{path} keeps the order of its rows in a file of its own; load it, call flatten_indices() and save it again."
        )
    listed = state.get("_data_files")
    names = (
        [one.get("filename") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    )
    # A name may lead nowhere else.
    files = [path / Path(str(name)).name for name in names]
    if not files or not all(file.is_file() for file in files):
        raise InputError(f"{path}: {_STATE} names no Arrow files that are there; save the dataset again.")
    return files


def _published(path: Path, split: str | None) -> list[Path]:
    """Return the Parquet files of a split, as the hub names them."""
    files: dict[str, list[Path]] = {}
    folders: set[Path] = set()
    for file in sorted(path.rglob("*.parquet")):
        if any(part.startswith(".") for part in file.relative_to(path).parts) or not file.is_file():
            continue
        shard = _SHARD.fullmatch(file.stem)
        is_numbered = shard is None and file.stem.isdigit()
        folders.add(file.parent.parent if is_numbered else file.parent)
        name = shard["split"] if shard else file.parent.name if is_numbered else file.stem
        files.setdefault(name, []).append(file)
    if not files:
        raise InputError(f"{path} is a folder and no dataset; name a file, or {_WHAT}.")
    if len(folders) > 1:
        listed = quoted(sorted(str(folder) for folder in folders))
        raise InputError(f"{path} holds several datasets; name the folder of one: {listed}.")
    return files[_chosen(path, list(files), split)]


def _chosen(path: Path, splits: Sequence[str], split: str | None) -> str:
    if split is None and len(splits) == 1:
        return splits[0]
    if split is None:
        raise InputError(f"{path} has the splits {quoted(splits)}; name one with --split.")
    if split not in splits:
        raise InputError(ended(f"{path} has no split {shown(split)}{did_you_mean(split, splits)}"))
    return split


def dataset_columns(path: Path, split: str | None) -> list[str]:
    """Return the columns of a dataset.

    Raises:
        InputError: as in dataset_files, or pyarrow is not installed.
    """
    first = dataset_files(path, split)[0]
    with _readable(path, first):
        return list(_batches(path, first, ())[0].names)


def write_dataset(path: Path, split: str | None, columns: Sequence[str], table: Path) -> None:
    """Write the needed columns of a dataset as one Parquet file, with class labels by their names.

    Raises:
        InputError: as in dataset_files, a file is damaged, or there is no such column, or none with that name alone.
    """
    files = dataset_files(path, split)
    with ExitStack() as opened:
        writer = None
        for file in files:
            with _readable(path, file):
                import pyarrow as pa
                from pyarrow import parquet

                schema, batches, needed = _batches(path, file, columns)
                names = _class_names(schema)
                for batch in batches:
                    named = pa.table({column: _named(batch[column], names.get(column)) for column in needed})
                    writer = writer or opened.enter_context(parquet.ParquetWriter(table, named.schema))
                    writer.write_table(named.cast(writer.schema))
        if writer is None:
            raise no_rows(path)


def _needed(path: Path, file: Path, columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns of a file that hold those that are needed, each once.

    Raises:
        InputError: there is no such column, or none with that name alone.
    """
    try:
        found = [(column, find_column(column, names)) for column in columns]
    except ValueError:
        twice = next(column for column in columns if names.count(column) > 1)
        raise InputError(f"{file} holds the column {twice!r} twice; each needs its own name.") from None
    for column, one in found:
        if one is None:
            raise missing_column(path, column, names)
    return list(dict.fromkeys(names[one.place] for _, one in found if one is not None))


def _batches(path: Path, file: Path, columns: Sequence[str]) -> tuple[pa.Schema, Iterator[Any], list[str]]:
    """Return a file's schema, its rows in batches, and which of its columns hold those that are needed."""
    import pyarrow as pa
    from pyarrow import parquet

    if file.suffix == ".parquet":
        opened = parquet.ParquetFile(file)
        schema = opened.schema_arrow
        needed = _needed(path, file, columns, schema.names)
        return schema, opened.iter_batches(columns=needed), needed
    stream = pa.ipc.open_stream(pa.memory_map(str(file)))
    return stream.schema, iter(stream), _needed(path, file, columns, stream.schema.names)


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Return column -> the names of its classes, as `datasets` notes them next to a schema."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: [str(name) for name in feature["names"]]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def _named(values: Any, names: Sequence[str] | None) -> Any:
    """Return the names of numbered classes; -1 means none."""
    if names is None:
        return values
    import pyarrow as pa
    from pyarrow import compute

    places = compute.if_else(compute.less(values, 0), None, values)
    return pa.array(names).take(places)


@contextmanager
def _readable(path: Path, file: Path) -> Iterator[None]:
    """Turn what pyarrow says into an InputError, and its absence."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            f"{path} is a dataset's folder, which needs pyarrow: pip install 'biasledger[datasets]'."
        ) from None
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{file} is not a readable file of a dataset: {str(error).splitlines()[0].rstrip('.')}."
        ) from None
