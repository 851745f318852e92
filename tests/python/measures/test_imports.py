"""Test that a build of words does not import libraries that take long to load."""

from __future__ import annotations

import subprocess
import sys


def test_words_are_measured_without_libraries_that_take_long_to_import() -> None:
    script = """
import sys
import biasledger.measures.equal_sizes.words
import biasledger.measures.words.judged
import biasledger.model_inputs.words
assert "scipy.sparse" in sys.modules
print(*sorted({"scipy.optimize", "scipy.stats", "sklearn"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
