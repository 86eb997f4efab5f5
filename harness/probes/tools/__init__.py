"""The programs that probes run: their command lines, and parsers of their output."""
