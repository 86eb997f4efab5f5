"""What the workloads read: rows that are a function of (seed, row number), and proof that they lie there."""
