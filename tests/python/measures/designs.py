"""Designs of units for tests."""

from __future__ import annotations

import numpy as np

from biasledger.measures.engine.design import Design


def design_of(labels: object, strata: object = 0) -> Design:
    """Units with these labels, in these strata or all in one."""
    marked = np.asarray(labels, dtype=np.int8)
    return Design(marked, np.broadcast_to(np.asarray(strata, dtype=np.int64), marked.shape).copy())
