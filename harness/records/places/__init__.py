"""Where event logs are: a file for each kind of place."""
