"""External programs as workloads: one file per program, and what runs them on several hosts."""
