"""One file a figure: the numbers that it shows, and how they are drawn."""
