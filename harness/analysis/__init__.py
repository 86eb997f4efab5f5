"""From records to conclusions: comparisons, confounders, attribution, costs, acceptance."""
