"""The functions of scipy.special that we need, without the rest of that package.

The package itself imports much that its functions do not need, NumPy's tests among it: three quarters of the
time that a comparison takes to start.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType

_PACKAGE = "scipy.special"


def _functions() -> ModuleType:
    """Return a module with the functions. Whoever imports the package later gets all of it."""
    spec = find_spec(_PACKAGE)
    if spec is None or _PACKAGE in sys.modules:
        return import_module(_PACKAGE)
    sys.modules[_PACKAGE] = module_from_spec(spec)  # its path, without running its code
    try:
        return import_module(f"{_PACKAGE}._ufuncs")
    finally:
        del sys.modules[_PACKAGE]


_found = _functions()
bdtrc = _found.bdtrc
gammaincinv = _found.gammaincinv
ndtr = _found.ndtr
stdtr = _found.stdtr
stdtrit = _found.stdtrit
