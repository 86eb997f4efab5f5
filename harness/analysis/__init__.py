"""From records to conclusions: comparisons, confounders, attribution, prices, acceptance."""
