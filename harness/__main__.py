"""Makes `python -m harness` the same as `clusterlift`."""

import sys

from harness.cli import main

sys.exit(main())
