"""What the probes of a network say: its faults, and whether it is as expected."""
