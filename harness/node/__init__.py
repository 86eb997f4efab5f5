"""Facts, counters and state of a node: its machine, its network interfaces, its disks and its processes.

Standard library only: part of it runs on Spark's executors.
"""
