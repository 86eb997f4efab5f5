"""Several configurations that take turns, in the lab or on hosts of the user's own."""
