"""What else may explain a change: what was observed of runs, and what was said of them."""
