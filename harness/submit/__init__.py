"""Starts an entry script under spark-submit on this machine, with Spark where it is and its configuration."""
