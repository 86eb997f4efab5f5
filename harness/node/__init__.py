"""What a node reports about itself: its machine, its network interfaces, and their counters.

Standard library only: part of it runs on Spark's executors.
"""
