"""How a command reaches a host: by ssh, docker, a network namespace, or Spark."""
