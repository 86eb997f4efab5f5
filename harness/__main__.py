"""`python -m harness` is `clusterlift`."""

import sys

from harness.cli import main

sys.exit(main())
