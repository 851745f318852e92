"""What dbt's process compiles and reads in every build alike, kept in a file of the project from one build to the next.

A quarter of what importing dbt takes goes into compiling the methods that `dataclasses` and mashumaro write for dbt's classes,
the same in each process. What Jinja compiles of macros and models, and what dbt parsed, is kept likewise.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import marshal
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER, find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import mashumaro

from collector.files.replacing import write_whole

# Whose classes, and who compiles for them.
_PACKAGES = (
    "dbt-core",
    "dbt-common",
    "dbt-adapters",
    "dbt-duckdb",
    "dbt-semantic-interfaces",
    "mashumaro",
    "jinja2",
)
_DIGEST = hashlib.sha256().digest_size
# mashumaro gives some functions names of their own in each process.
_NAMED_ONCE = re.compile(r"_[0-9a-f]{32}")
_MANIFEST = "manifest of "
_SCHEMAS = "mashumaro.jsonschema"


class KeptCode:
    """Compiled code and plain values by name, from a file and back into it.

    The file is the project's own, as what dbt parsed is, which holds code as well. One of other versions or that was damaged
    counts as none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._is_new = False
        self._made: dict[str, Any] = {}
        self.is_read = False

    def read(self) -> None:
        """Take what the file has, as it is now, beside what there is."""
        with suppress(OSError):
            written = self._file.read_bytes()
            # What is damaged would end the process.
            if written[:_DIGEST] == _stamp(written[_DIGEST:]):
                self._made |= marshal.loads(written[_DIGEST:])  # noqa: S302  # as the class says
                self.is_read = True

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """What was made under this name, or what `make` gives."""
        if name not in self._made:
            self._made[name] = make()
            self._is_new = True
        return self._made[name]

    def only(self, name: str, others: str, make: Callable[[], Any]) -> Any:
        """The same, where it takes the place of all whose name begins so."""
        if name not in self._made:
            self._made = {key: value for key, value in self._made.items() if not key.startswith(others)}
        return self.get(name, make)

    def write(self) -> None:
        """Write what is new; without it, the next build only takes longer."""
        if self._is_new:
            with suppress(OSError):
                content = marshal.dumps(self._made)
                write_whole(self._file, _stamp(content) + content)
                self._is_new = False


def _stamp(content: bytes) -> bytes:
    """What tells a whole file of these versions."""
    versions = " ".join(version(name) for name in _PACKAGES)
    return hashlib.sha256(MAGIC_NUMBER + versions.encode() + content).digest()


def _name(kind: str, source: str) -> str:
    return hashlib.sha256(f"{kind} {source}".encode()).hexdigest()


def keep_methods(kept: KeptCode) -> None:
    """Compile the methods that are written for classes once; for this process, before it imports dbt."""
    from mashumaro.core.meta.code import builder

    def execute(source: str, *places: Any) -> None:
        def code() -> Any:
            return compile(source, "<string>", "exec", dont_inherit=True)

        # The same source gives the same code, whoever wrote it; both would run it themselves.
        exec(code() if _NAMED_ONCE.search(source) else kept.get(_name("methods", source), code), *places)  # noqa: S102  # as they would

    # Both call the built-in function, and have no setting for it; mypy knows no such name there.
    for module in (dataclasses, builder):
        module.exec = execute  # type: ignore[attr-defined]


def defer_schemas() -> None:
    """Import what makes schemas of classes when one is made; for this process, before it imports dbt.

    They are kept, and it takes a tenth of importing dbt. Where it is there already nothing changes.
    """
    if _SCHEMAS in sys.modules:
        return
    specification = find_spec(_SCHEMAS)
    assert specification is not None
    assert specification.loader is not None
    loader, package = specification.loader, module_from_spec(specification)

    def whole() -> Any:
        # Executed, the package has its own.
        if package.build_json_schema is build_json_schema:
            loader.exec_module(package)
        return package

    def build_json_schema(*args: Any, **options: Any) -> Any:
        return whole().build_json_schema(*args, **options)

    def other(name: str) -> Any:
        if name.startswith("__") or name not in vars(whole()):
            raise AttributeError(f"module {_SCHEMAS!r} has no attribute {name!r}")
        return vars(package)[name]

    # Set on an empty module before it is executed; mypy knows neither name on a module.
    package.build_json_schema = build_json_schema  # type: ignore[attr-defined]
    package.__getattr__ = other  # type: ignore[method-assign]
    sys.modules[_SCHEMAS] = mashumaro.jsonschema = package
    # dbt annotates its classes with patterns; what these are built on is a type of fields that nobody checks.
    models = ModuleType(f"{_SCHEMAS}.models")
    # As above; the module is taken away again below.
    models.__getattr__ = lambda _name: Any  # type: ignore[method-assign]
    sys.modules[models.__name__] = models
    import_module(f"{_SCHEMAS}.annotations")
    del sys.modules[models.__name__]


@contextmanager
def code_kept(kept: KeptCode) -> Iterator[None]:
    """Macros and models as Jinja compiled them, what dbt checks settings by, and what it parsed: made once; for one command."""
    from dbt.contracts.graph.manifest import Manifest
    from dbt.parser.manifest import extended_mashumuro_decoder
    from dbt_common.clients.jinja import MacroFuzzEnvironment
    from dbt_common.dataclass_schema import dbtClassMixin

    compiled, described = MacroFuzzEnvironment.compile, dbtClassMixin.__dict__["json_schema"]
    parsed, written = Manifest.__dict__["from_msgpack"], Manifest.to_msgpack
    # A project that had none may have been given that of one like it since this process began.
    if not kept.is_read:
        kept.read()

    def compile_once(environment: Any, source: Any, *args: Any, **options: Any) -> Any:
        if args or options or not isinstance(source, str):
            return compiled(environment, source, *args, **options)
        return kept.get(_name(type(environment).__name__, source), lambda: compiled(environment, source))

    def describe_once(cls: Any) -> Any:
        # Of classes that have no version of their own here nothing is kept.
        if cls.__module__.partition(".")[0] not in {"dbt", "dbt_common"}:
            return described.__func__(cls)
        # Plain: it has strings that are more than strings.
        return kept.get(
            f"schema of {cls.__module__}.{cls.__qualname__}",
            lambda: json.loads(json.dumps(described.__func__(cls))),
        )

    def parse_once(cls: Any, data: bytes, *args: Any, **options: Any) -> Any:
        def stated() -> bytes:
            read = parsed.__func__(cls, data, *args, **options)
            public = [field.name for field in dataclasses.fields(read) if not field.name.startswith("_")]
            return pickle.dumps({name: getattr(read, name) for name in public})

        state = kept.only(f"{_MANIFEST}{hashlib.sha256(data).hexdigest()}", _MANIFEST, stated)
        return cls(**pickle.loads(state))  # noqa: S301  # as KeptCode says

    def write_and_keep(manifest: Any, *args: Any, **options: Any) -> bytes:
        data = written(manifest, *args, **options)
        # Read back now, where all was parsed, so that the next build need not.
        parse_once(type(manifest), data, decoder=extended_mashumuro_decoder)
        return data

    # Exchanged for one command and put back: dbt has no setting for them, and mypy takes no method for one that may be exchanged.
    MacroFuzzEnvironment.compile = compile_once  # type: ignore[method-assign, assignment]
    dbtClassMixin.json_schema = classmethod(describe_once)  # type: ignore[method-assign, assignment]
    Manifest.from_msgpack = classmethod(parse_once)  # type: ignore[method-assign, assignment, misc]
    Manifest.to_msgpack = write_and_keep  # type: ignore[method-assign, assignment, misc]
    try:
        yield
    finally:
        MacroFuzzEnvironment.compile = compiled  # type: ignore[method-assign]
        dbtClassMixin.json_schema = described  # type: ignore[method-assign]
        Manifest.from_msgpack = parsed  # type: ignore[method-assign, misc]
        Manifest.to_msgpack = written  # type: ignore[method-assign, misc]
        kept.write()
