"""One file a command of `clusterlift`."""
