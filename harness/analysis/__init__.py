"""From recorded trials to samples and comparisons. It knows nothing of presentation."""
