"""The report: one HTML page that loads nothing else."""
