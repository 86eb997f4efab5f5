"""What probes found, for the terminal."""
