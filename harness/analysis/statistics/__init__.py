"""Tests and intervals, of numbers alone."""
