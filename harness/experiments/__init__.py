"""Several configurations on one site, run in turns."""
