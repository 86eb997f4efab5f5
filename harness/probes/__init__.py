"""Probes measure the network itself, between hosts.

Each probe is one file, and returns the steps of a plan (`plan`). `tools` has the command lines of
the programs that probes run, and the parsers of their output.
"""
