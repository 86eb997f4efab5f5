"""What Spark runs."""
