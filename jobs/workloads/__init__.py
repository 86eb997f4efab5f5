"""The workloads, one per file. A new file needs no registration."""
