"""The Python interface, as `biasledger.open` and the like: tables as data frames, an audit in one call."""

from biasledger.notebook.audits import audit, build, collect
from biasledger.notebook.explained import Explained
from biasledger.notebook.page import Report
from biasledger.notebook.warehouse import Warehouse, open_warehouse

__all__ = ["Explained", "Report", "Warehouse", "audit", "build", "collect", "open_warehouse"]
