"""How spark-submit enters a script of ours. An old Python reads this file, too, and says so in one line.

So this module, the scripts, and the `__init__.py` of the packages above them are written for Python 2.7.
"""

import importlib
import sys

OLDEST_PYTHON = (3, 8)
"""Code that runs under spark-submit or on nodes is written for this Python and newer ones."""


def enter(prog, module):
    # type: (str, str) -> None
    """Run `main` of the module as the script `prog`, and exit with its code.

    Exit with code 2, and one line on the reason, if this Python or this Spark is too old.
    """
    fault = fault_of_old_python(tuple(sys.version_info[:3]))
    if fault:
        sys.stderr.write("%s: error: %s\n" % (prog, fault))
        sys.exit(2)
    # An older Python cannot read these modules.
    from harness.base.interrupt import end_at_ctrl_c

    end_at_ctrl_c()  # while the rest is loaded
    from harness.base.command_line import run_main
    from harness.base.spark_needs import fault_of_pyspark
    from harness.base.terminal import say_error

    fault = fault_of_pyspark()
    if fault:
        say_error(prog, fault)
        sys.exit(2)
    run_main(prog, importlib.import_module(module).main)


def fault_of_old_python(version):
    # type: (tuple[int, ...]) -> str
    """Return why a Python of this version cannot run what spark-submit runs; empty if it can."""
    if version[:2] >= OLDEST_PYTHON:
        return ""
    return (
        "this is Python %s, and %s or newer is needed: set PYSPARK_PYTHON to one that every node has"
        % (
            ".".join(map(str, version)),
            ".".join(map(str, OLDEST_PYTHON)),
        )
    )
