"""Hosts reached through Spark itself, where nothing else leads to them.

A task on each executor is our hand there. Who wants something done writes to a socket of the driver's,
which hands it on; the answer comes back the same way. Nothing is installed anywhere.
"""
