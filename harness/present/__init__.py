"""Comparisons, runs and probes as text, Markdown, JSON and HTML."""
