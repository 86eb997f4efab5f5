"""The programs that probes run: their command lines, and parsers of what they print."""
