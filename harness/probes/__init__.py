"""Probes measure the network itself, between hosts.

One file for each probe, which returns the steps of a plan (`plan`, `runner`). `tools` has the command lines and the
parsers of the programs that probes run, and `transports` the ways in which a command reaches a host.
"""
