"""Measurements of the network itself: one file a probe, one below `tools/` for each program it asks."""
