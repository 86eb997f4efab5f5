"""How a command reaches a host: by ssh, docker, in a network namespace, or locally."""
