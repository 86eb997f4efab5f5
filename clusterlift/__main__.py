"""The program `clusterlift`, which is `python -m clusterlift`, too."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run the command line of `harness`: inside this package in an installation, beside it in a checkout.

    It imports by the names that it has under spark-submit, where nothing is installed.
    """
    sys.path.insert(0, str(HERE if (HERE / "harness").is_dir() else HERE.parent))
    from harness.__main__ import main as run  # noqa: PLC0415  found from here on

    return run()


if __name__ == "__main__":
    sys.exit(main())
