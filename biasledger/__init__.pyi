from biasledger.notebook import Warehouse as Warehouse
from biasledger.notebook import audit as audit
from biasledger.notebook import build as build
from biasledger.notebook import collect as collect
from biasledger.notebook import open_warehouse
from collector.errors import BiasledgerError as BiasledgerError

__version__: str

open = open_warehouse  # noqa: A001  # as the package calls it
