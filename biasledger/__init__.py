"""biasledger: a bias-audit warehouse for language models.

In Python: `open` a built warehouse, `collect` answers, `build` tables, or `audit` a data frame in one call; what errors are is
`BiasledgerError`. docs/notebook.md shows them. The package imports nothing until one of them is used.
"""

__version__ = "0.1.0"

# Name -> where it is; __init__.pyi tells type checkers the same.
_INTERFACE = {
    "BiasledgerError": ("collector.errors", "BiasledgerError"),
    "Warehouse": ("biasledger.notebook", "Warehouse"),
    "audit": ("biasledger.notebook", "audit"),
    "build": ("biasledger.notebook", "build"),
    "collect": ("biasledger.notebook", "collect"),
    "open": ("biasledger.notebook", "open_warehouse"),
}


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name not in _INTERFACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _INTERFACE[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """Return the names for completion."""
    return sorted({*globals(), *_INTERFACE})
