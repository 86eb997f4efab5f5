"""A file system whose daemons are shell scripts, to test what all file systems have in common."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness.__main__ import main
from harness.commands.local import file_system, local
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import Launch

WAIT = "exec sleep 600"
SERVE = f": > $0.serving; {WAIT}"


@dataclass
class FakeFileSystem:
    """Every daemon serves, except those for which `scripts` has another script."""

    scheme: ClassVar[str] = "fake"
    title: ClassVar[str] = "FakeFS"
    server: ClassVar[str] = "server"
    scripts: Mapping[str, str] = field(default_factory=dict)
    attempts: list[Cluster] = field(default_factory=list)

    def port_count(self, servers: int) -> int:
        return 1

    def prepare(self, cluster: Cluster) -> None:
        self.attempts.append(cluster)

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        for name in ("head", *(f"server-{number + 1}" for number in range(cluster.servers))):
            script = self.scripts.get(name, SERVE)
            yield Launch(name, ["sh", "-c", script, name])

    def live_servers(self, cluster: Cluster) -> int | None:
        if not (cluster.directory / "head.serving").exists():
            return None
        return len(list(cluster.directory.glob("server-*.serving")))

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        return {"FAKE_CONF": str(cluster.conf_directory)}


if __name__ == "__main__":
    system = FakeFileSystem(json.loads(os.environ.get("FAKE_SCRIPTS", "{}")))
    local.add_command(file_system(system, servers=2))
    sys.argv[1:1] = ["local", "fake"]
    sys.exit(main())
