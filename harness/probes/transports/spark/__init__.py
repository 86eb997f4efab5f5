"""Reach the hosts of Spark executors through Spark itself, where nothing else leads to them."""
