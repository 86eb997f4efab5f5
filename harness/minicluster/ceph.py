"""Ceph: a gateway that speaks S3, a monitor, and OSDs, from the programs on the PATH."""

import base64
import hmac
import re
import secrets
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import ClassVar
from urllib.error import HTTPError

from harness.minicluster.ceph_configuration import (
    USER,
    bucket_name,
    ceph_conf,
    monitor_address,
    osd_id,
    write_ceph_configuration,
)
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.s3a import s3a_properties
from harness.minicluster.spark_configuration import write_spark_configuration
from harness.model.errors import BadInput, ClusterliftError
from harness.model.layout import Layout, LayoutKind
from harness.terminal import last_line

PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
OLDEST = 18
PACKAGES = "ceph-common ceph-mon ceph-osd radosgw"
ANSWER_S = 10.0
XML = "application/xml"

# All start together: each waits for the others. A shell becomes its daemon after what has to be done once.
MONITOR = """\
monmaptool --create --addv a "$1" monmap
ceph-mon -i a --mkfs --monmap monmap --keyring keyring
exec ceph-mon -f -i a
"""
OSD = """\
ceph-osd -i "$1" --mkfs --no-mon-config --osd-uuid "$2"
exec ceph-osd -f -i "$1"
"""
# `ceph` goes on after a command that failed, and says so in a line that begins with Error.
GATEWAY = """\
tell() {
  ceph < "$1" > "$1.log" 2>&1
  ! grep '^Error' "$1.log"
}
tell osds
until ceph osd stat | grep -q ": $1 up"; do sleep 0.5; done
tell pools
radosgw-admin zonegroup set --infile zonegroup.json --default > zonegroup.log
radosgw-admin zone set --infile zone.json --default > zone.log
radosgw-admin metadata put user:"$2" < user.json
exec radosgw -f -n client.admin
"""


@dataclass(frozen=True)
class CephCluster:
    """Ceph, with a bucket for each layout. Its keys are new, and only in files of its directory."""

    scheme: ClassVar[str] = "s3"
    title: ClassVar[str] = "Ceph"
    head: ClassVar[str] = "gateway"
    server: ClassVar[str] = "OSD"
    servers_option: ClassVar[str] = "osds"
    layouts: Sequence[Layout]
    access_key: str = field(default_factory=lambda: secrets.token_hex(10), repr=False)
    secret_key: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)

    def port_count(self, servers: int) -> int:
        """Return 2, of gateway and monitor; OSDs choose and report their own ports."""
        return 2

    def prepare(self, cluster: Cluster) -> None:
        """Find the programs, and write the configuration of the daemons and of Spark."""
        _check_programs()
        if re.search(r"[\s,;=]", str(cluster.directory)):
            raise BadInput(
                f"Ceph cannot store its keys in {cluster.directory}: set XDG_CACHE_HOME to a path without "
                "blanks, commas, semicolons and equals signs"
            )
        write_ceph_configuration(cluster, self.layouts, self.access_key, self.secret_key)
        properties = {
            **s3a_properties(endpoint(cluster), self.access_key, self.secret_key),
            "spark.hadoop.clusterlift.s3a.store": "ceph",
            "spark.hadoop.clusterlift.s3a.ceph.conf": str(ceph_conf(cluster)),
        }
        write_spark_configuration(cluster.conf_directory, properties)
        (cluster.conf_directory / "spark-defaults.conf").chmod(0o600)  # it has the keys
        for name in ("monitor", *(f"osd-{number}" for number in range(cluster.servers))):
            (cluster.directory / name).mkdir()

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield all daemons together: each waits for those that it needs."""
        osds = [(f"osd-{n}", OSD, [str(n), str(osd_id(n))]) for n in range(cluster.servers)]
        for name, script, arguments in (
            ("gateway", GATEWAY, [str(cluster.servers), USER]),
            ("monitor", MONITOR, [monitor_address(cluster)]),
            *osds,
        ):
            command = ["sh", "-eu", "-c", script, name, *arguments]
            yield Launch(name, command, {"CEPH_CONF": str(ceph_conf(cluster)), "CEPH_ARGS": ""})

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return all as soon as the gateway answers: it starts after every OSD."""
        try:
            _send(endpoint(cluster))
        except OSError:
            return None
        return cluster.servers

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the URI of the first bucket, and where Spark and Ceph's tools find their configuration."""
        return {
            "CLUSTERLIFT_FS": f"s3a://{bucket_name(self.layouts[0])}",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
            "CEPH_CONF": str(ceph_conf(cluster)),
        }

    def create_buckets(self, cluster: Cluster) -> None:
        """Create a bucket for each layout. Raises ClusterliftError if the gateway refuses."""
        for name in map(bucket_name, self.layouts):
            try:
                self._put_bucket(cluster, name)
            except HTTPError as error:
                code = re.search("<Code>(.*?)</Code>", error.read().decode(errors="replace"))
                reason = code[1] if code else error.reason
                raise ClusterliftError(f"Ceph does not create bucket {name}: {reason}") from error
            except OSError as error:
                raise ClusterliftError(f"Ceph does not create bucket {name}: {error}") from error

    def _put_bucket(self, cluster: Cluster, name: str) -> None:
        """Ask for a bucket whose placement target has its name. Signed as S3's version 2 has it."""
        date = formatdate(usegmt=True)
        text = f"PUT\n\n{XML}\n{date}\n/{name}"
        signature = base64.b64encode(hmac.digest(self.secret_key.encode(), text.encode(), "sha1"))
        _send(
            f"{endpoint(cluster)}/{name}",
            f"<CreateBucketConfiguration><LocationConstraint>:{name}</LocationConstraint>"
            "</CreateBucketConfiguration>",
            Date=date,
            Authorization=f"AWS {self.access_key}:{signature.decode()}",
        )


def checked_layout(text: str) -> Layout:
    """Return the layout of this text form. Raise ValueError if no pool of Ceph can have it."""
    layout = Layout.parse(text)
    if layout.kind is LayoutKind.REPLICATED or (
        layout.kind is LayoutKind.REED_SOLOMON and layout.data > 1
    ):
        return layout
    raise ValueError(f"'{text}': Ceph stores replicated:N, and rs:D+P[:cell] with at least rs:2+1")


def endpoint(cluster: Cluster) -> str:
    """Return the URL of the gateway."""
    return f"http://{LOCALHOST}:{cluster.ports[0]}"


def _send(url: str, body: str | None = None, **headers: str) -> None:
    """Send a request, PUT if it has a body. Raises OSError without an answer, or if that is an error."""
    request = urllib.request.Request(  # noqa: S310  http
        url,
        data=body.encode() if body else None,
        method="PUT" if body else "GET",
        headers={"Content-Type": XML, **headers},
    )
    # A proxy that the user has configured cannot reach this machine's 127.0.0.1.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=ANSWER_S):
        pass


def _check_programs() -> None:
    """Raise BadInput if a program is missing, or older than Hadoop's S3A accepts."""
    how = f"install Ceph {OLDEST} or newer (Debian 13: apt-get install {PACKAGES})"
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        raise BadInput(f"--store ceph: no program {missing[0]!r} is on the PATH; {how}")
    done = subprocess.run(
        ["radosgw", "--version"],  # noqa: S607  found on the PATH, as the daemons are
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = re.match(r"ceph version (\d+)\.\S*", done.stdout)
    if found is None:
        raise BadInput(f"--store ceph: radosgw does not run: {last_line(done.stderr)}; {how}")
    if int(found[1]) < OLDEST:
        raise BadInput(
            f"--store ceph: the radosgw on the PATH is {found[0]}, where S3A cannot write; {how}"
        )
