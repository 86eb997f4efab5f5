"""What a second saved costs."""
