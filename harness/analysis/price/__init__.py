"""What a change is worth."""
