"""What a trial does: the options of work, and which runs do the same. Standard library only."""
