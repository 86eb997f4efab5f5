"""How a command reaches a host: by ssh, docker, in a network namespace, through Kubernetes, or locally."""

from collections.abc import Mapping

from harness.hosts.transports.host import Transport, by_docker, by_local, by_netns, by_ssh
from harness.hosts.transports.kubernetes import by_kubernetes

TRANSPORTS: Mapping[str, Transport] = {
    "ssh": by_ssh,
    "docker": by_docker,
    "kubernetes": by_kubernetes,
    "netns": by_netns,
    "local": by_local,
}
"""The values of --via."""
