"""What the runs of one configuration say, before it is compared with another."""
