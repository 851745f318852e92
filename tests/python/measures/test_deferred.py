"""Test that modules whose import is deferred load when they are used."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def test_numpy_s_fortran_is_imported_when_it_is_used() -> None:
    program = """
        import sys
        from biasledger.model_inputs.beside import defer_f2py
        defer_f2py()
        defer_f2py()
        import scipy.sparse
        assert "numpy.f2py.crackfortran" not in sys.modules
        import numpy.f2py
        assert numpy.f2py.get_include().endswith("src")
        assert "numpy.f2py.crackfortran" in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_where_it_was_imported_it_stays() -> None:
    program = """
        import numpy.f2py
        from biasledger.model_inputs.beside import defer_f2py
        defer_f2py()
        assert type(numpy.f2py).__name__ == "module"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
