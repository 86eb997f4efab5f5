"""What runs under spark-submit: trials, progress, interrupts, command lines. Standard library only."""
