"""Blocks that the pages of probes share: tables by columns, and matrices of pairs."""
