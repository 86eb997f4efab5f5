"""Datasets: rows that are a function of (seed, row number), and the proof of how they are stored."""
