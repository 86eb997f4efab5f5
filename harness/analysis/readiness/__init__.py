"""Whether a baseline is complete."""
