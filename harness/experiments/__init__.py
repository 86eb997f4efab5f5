"""Several configurations in one lab, run alternately."""
