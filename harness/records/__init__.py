"""The files of runs and probes: the writers (standard library only), the reader, and the look-up by name."""
