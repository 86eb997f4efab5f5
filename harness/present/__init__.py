"""Comparisons and runs as text, Markdown, CSV and JSON. Whatever was read is escaped here."""
