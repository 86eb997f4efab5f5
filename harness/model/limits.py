"""The limits and defaults of options of the scripts and of experiment files, and the fewest runs."""

MAX_ROWS = 9 * 10**9
"""The sum of the fractions of all rows, each below 10^9, fits in 64 bits up to this number of rows."""
MAX_TRIALS = 10_000
MAX_NODES = 10**5
MAX_PER_HOST = 1024
MAX_RUNS = 1000
MIN_RUNS = 2
"""Runs on either side without which nothing is claimed: a single run may be an outlier."""
