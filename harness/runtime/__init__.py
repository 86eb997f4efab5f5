"""What runs a benchmark under spark-submit: options, trials, progress, interrupts.

Standard library only.
"""
