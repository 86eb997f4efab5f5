"""The subcommands of `clusterlift`, one file for each."""
