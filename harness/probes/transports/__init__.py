"""How a command reaches a host: ssh, docker, a network namespace, or Spark."""
