"""What every room uses: errors, words, the terminal, processes, HTTP. Only option_types needs click."""
