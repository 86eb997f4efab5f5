"""Tests, intervals and power. They know numbers alone."""
