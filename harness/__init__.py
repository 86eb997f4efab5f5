"""Measures and compares. It imports no pyspark, so that results can be read without Java."""

__version__ = "1.0.0"
