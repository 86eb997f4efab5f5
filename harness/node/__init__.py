"""What a node tells about itself: its machine, its network interfaces, their counters. Standard library only."""
