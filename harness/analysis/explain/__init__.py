"""Where the time of trials went."""
