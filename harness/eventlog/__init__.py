"""Spark's event log, and the task metrics of a trial that it contains. Standard library only."""
