"""The programs that probes run: their command lines, and what they print."""
