"""The Spark transport: run commands on executors' hosts that only Spark reaches.

A long-running task on each executor, the executor agent, runs commands. The relay on Spark's driver passes
requests, input and output between the agents and the callers, which are `proxy` processes of this machine.
"""
