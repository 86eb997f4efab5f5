"""`spark-submit datagen/generate.py URI`: write a dataset and prove how it is stored."""

import os
import sys

# spark-submit puts the script's own directory first; our packages are one level above it.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

try:
    from harness.base.entry import enter
except ImportError:  # with --deploy-mode cluster, the node has this file alone
    sys.stderr.write("generate.py: error: submit without --deploy-mode cluster\n")
    sys.exit(2)

if __name__ == "__main__":
    enter("generate.py", "datagen.generating")
