"""dbt asks an adapter for its version here."""

from biasledger import __version__ as version

__all__ = ["version"]
