"""One file a command of `clusterlift`; those of the lab and of the daemons are in their own rooms."""
