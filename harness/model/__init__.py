"""The vocabulary: runs, trials, probes and links as frozen dataclasses, and the errors."""
