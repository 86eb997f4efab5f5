"""The Spark transport: run commands on executors' hosts that only Spark reaches.

A long-running task on each executor, the executor agent, runs commands. The relay on Spark's driver joins
each caller, a `proxy` process of this machine, with a connection of the agent that it names.
"""
