"""From Spark's event log to the task metrics of a trial. Standard library only."""
