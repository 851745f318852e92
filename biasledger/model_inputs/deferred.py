"""What is imported for nothing, and takes long, is left until somebody asks for it."""

from __future__ import annotations

import importlib.util
import sys


def defer_f2py() -> None:
    """Have numpy's compiler of Fortran imported when something of it is used: scipy asks numpy for all of its modules.

    Called before scipy is imported; afterwards, or in a numpy that has no such module, it does nothing.
    """
    import numpy as np

    name = "numpy.f2py"
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # As an import would: without it numpy looks for the module once more.
    np.f2py = module
