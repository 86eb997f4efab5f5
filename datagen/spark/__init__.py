"""What all entry scripts need of Spark: the session, its file systems, its errors in one line."""
