"""Comparisons, runs and probes as text, Markdown, CSV, JSON, Parquet and HTML."""
