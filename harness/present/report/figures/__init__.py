"""One file per figure: the numbers that it shows, and how they are drawn."""
