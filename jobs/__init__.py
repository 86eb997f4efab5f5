"""The benchmark that Spark runs: workloads, trials and their recording."""
