"""Reading a YAML file the user wrote: every way it can be unreadable becomes one sentence that names file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from collector.errors import InputError
from collector.files.plain import MAX_SPEC_BYTES, read_plain

TRUTH_VALUES = "YAML reads an unquoted yes, no, on, off, true or false as a truth value"


# Far more than any audit needs; counted as if each alias were written out, because readers of the document walk it so.
MAX_NODES = 50_000
# Reading a number takes the square of its length: 1:1:1:… is one of base 60.
MAX_NUMBER_CHARACTERS = 1_000
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


class _UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, of which plain YAML would silently keep the last, and what has no bound."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._n_read = 0
        # The number of nodes in each node, itself included; None while they are being read.
        self._sizes: dict[int, int | None] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read a node with all below it, and refuse it where there are too many or it holds itself."""
        self._n_read += 1
        is_alias = bool(self.check_event(yaml.events.AliasEvent))
        node = super().compose_node(parent, index)
        if node is None:
            return None
        if not is_alias:
            self._sizes[id(node)] = 1 + sum(map(self._size, _below(node)))
        if max(self._size(node), self._n_read) > MAX_NODES:
            raise yaml.composer.ComposerError(
                None,
                None,
                f"there are more than {MAX_NODES:,} values here, with aliases written out",
                node.start_mark,
            )
        if (
            isinstance(node, yaml.ScalarNode)
            and node.tag != _TEXT
            and len(node.value) > MAX_NUMBER_CHARACTERS
        ):
            raise yaml.composer.ComposerError(
                None,
                None,
                f"a value that is no text has more than {MAX_NUMBER_CHARACTERS} characters",
                node.start_mark,
            )
        return node

    def _size(self, node: yaml.Node) -> int:
        size = self._sizes.get(id(node))
        if size is None:
            raise yaml.composer.ComposerError(
                None, None, "an alias occurs inside what it names", node.start_mark
            )
        return size


def _below(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield the nodes that a node holds."""
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _construct_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | int | float | bool):
            raise yaml.constructor.ConstructorError(
                None, None, f"{key!r} cannot be a key", key_node.start_mark
            )
        if key in mapping:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key!r} is given twice", key_node.start_mark
            )
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def read_yaml_mapping(path: Path, *, what: str) -> dict[str, Any]:
    """Read a YAML file whose top level is a mapping and whose keys are all text.

    Args:
        path: the file.
        what: what the file should be, for the error sentence: "an audit spec".

    Raises:
        InputError: the file is absent, no file, not UTF-8, empty, invalid YAML, or no mapping with text keys.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the YAML file of {what} in it.")
    try:
        text = read_plain(path, MAX_SPEC_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; name the YAML file of {what}.") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line} is not UTF-8; save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    try:
        document = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        raise InputError(
            f"{path}: {where}: {error.problem or error.context}; this is not valid YAML."
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # ValueError: an impossible date, for instance 2026-13-45.
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    if document is None:
        raise InputError(f"{path} is empty; it should hold {what}.")
    if not isinstance(document, dict):
        raise InputError(
            f"{path} should hold {what}, a mapping of keys to values, and not a {type(document).__name__}."
        )
    _require_text_keys(path, document, "")
    return document


def key_lines(path: Path) -> dict[tuple[str | int, ...], int]:
    """Return the line, from 1, of every key and list item of a file that `read_yaml_mapping` can read: ("templates", 0) -> 7."""
    text = read_plain(path, MAX_SPEC_BYTES).decode("utf-8-sig")
    return dict(_lines(yaml.compose(text, Loader=_UniqueKeyLoader), ()))


def _lines(node: yaml.Node | None, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    if isinstance(node, yaml.SequenceNode):
        for index, inner in enumerate(node.value):
            yield (*at, index), inner.start_mark.line + 1
            yield from _lines(inner, (*at, index))
    elif isinstance(node, yaml.MappingNode):
        for key, inner in node.value:
            if key.tag == _MERGE:
                yield from _lines(inner, at)
                continue
            yield (*at, key.value), key.start_mark.line + 1
            yield from _lines(inner, (*at, key.value))


def _require_text_keys(path: Path, value: Any, at: str) -> None:
    """Raise InputError where a key is a truth value or a number (an attribute or group whose name lacks quotes)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                place = f" under {at}" if at else ""
                why = TRUTH_VALUES if isinstance(key, bool) else "it is read as a number"
                raise InputError(f"{path}: the key {key!r}{place} is not text ({why}); put it in quotes.")
            _require_text_keys(path, inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _require_text_keys(path, inner, f"{at}[{index}]")
