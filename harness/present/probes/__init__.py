"""The page that each probe prints, and the verdict of the gate."""

UNKNOWN = "?"
"""Stands for a value that is not known."""
