"""Several configurations in one lab, run in turns."""
