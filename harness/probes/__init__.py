"""Probes measure the network itself. One file a probe; `tools/` parses what programs print."""
