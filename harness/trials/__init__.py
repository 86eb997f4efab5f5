"""The loop of trials: order, rounds, progress, and which trials count. Standard library only."""
