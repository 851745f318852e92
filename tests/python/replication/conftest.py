"""Where the real model outputs lie; they are not part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def data_folder(name: str) -> Path:
    """The folder of one data set; skips the test, saying why, where it is absent."""
    places = [Path(os.environ["BIASLEDGER_DATA"])] if "BIASLEDGER_DATA" in os.environ else []
    places.append(ROOT.parent / "shared" / "data")
    for place in places:
        if (place / name).is_dir():
            return place / name
    pytest.skip(f"the data set {name} is not here; set BIASLEDGER_DATA to the folder that holds it")
