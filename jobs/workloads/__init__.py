"""One file a workload; a new file is found by itself."""
