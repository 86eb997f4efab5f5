"""A cluster of containers on this machine: real Spark, a real file system, links as fast as you say."""
