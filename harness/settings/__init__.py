"""Settings that an experiment makes on hosts for the length of a run. Each host puts them back by itself."""
