"""Where the time went, from event logs."""
