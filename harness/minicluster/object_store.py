"""An object store on this machine: its buckets, and the Spark that reaches it by S3A."""

import base64
import hmac
import re
import secrets
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import ClassVar
from urllib.error import HTTPError

from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST
from harness.minicluster.s3a import s3a_properties
from harness.minicluster.spark_configuration import write_spark_configuration
from harness.model.errors import ClusterliftError
from harness.model.layout import Layout
from harness.model.spark_properties import S3A_STORE

ANSWER_S = 10.0
XML = "application/xml"


@dataclass(frozen=True)
class ObjectStore:
    """A store with a bucket for each layout. Its keys are new, and in no command line and no state file."""

    scheme: ClassVar[str] = "s3"
    layouts: Sequence[Layout]
    access_key: str = field(default_factory=lambda: secrets.token_hex(10), repr=False)
    secret_key: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)

    def problem(self) -> str | None:
        """Say which layout the store cannot have; None if it can have all."""
        return None

    def location(self, bucket: str) -> str:
        """Return what decides how the store keeps a bucket, in S3's word its location; empty for nothing."""
        return ""

    def write_spark_configuration(
        self, cluster: Cluster, store: str, properties: Mapping[str, str]
    ) -> None:
        """Tell Spark where the store is, and by Hadoop's properties which one it is."""
        hadoop = {S3A_STORE: store, **properties}
        write_spark_configuration(
            cluster.conf_directory,
            {
                **s3a_properties(endpoint(cluster), self.access_key, self.secret_key),
                **{f"spark.hadoop.{key}": value for key, value in hadoop.items()},
            },
        )
        (cluster.conf_directory / "spark-defaults.conf").chmod(0o600)  # it has the keys

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the URI of the first bucket, and where Spark's configuration is."""
        return {
            "CLUSTERLIFT_FS": f"s3a://{bucket_name(self.layouts[0])}",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
        }

    def create_buckets(self, cluster: Cluster) -> None:
        """Create a bucket for each layout. Raises ClusterliftError if the store refuses."""
        for name in map(bucket_name, self.layouts):
            try:
                self._put_bucket(cluster, name)
            except HTTPError as error:
                code = re.search("<Code>(.*?)</Code>", error.read().decode(errors="replace"))
                reason = code[1] if code else error.reason
                raise ClusterliftError(f"bucket {name} cannot be created: {reason}") from error
            except OSError as error:
                raise ClusterliftError(f"bucket {name} cannot be created: {error}") from error

    def _put_bucket(self, cluster: Cluster, name: str) -> None:
        """Ask for a bucket. The request is signed as version 2 of S3's signatures has it."""
        date = formatdate(usegmt=True)
        text = f"PUT\n\n{XML}\n{date}\n/{name}"
        signature = base64.b64encode(hmac.digest(self.secret_key.encode(), text.encode(), "sha1"))
        body = (
            f"<CreateBucketConfiguration><LocationConstraint>{location}</LocationConstraint>"
            "</CreateBucketConfiguration>"
            if (location := self.location(name))
            else ""
        )
        _send(
            f"{endpoint(cluster)}/{name}",
            body,
            Date=date,
            Authorization=f"AWS {self.access_key}:{signature.decode()}",
        )


def bucket_name(layout: Layout) -> str:
    """Return the name of the bucket that has a layout: `rs-2-1`."""
    return str(layout).replace(":", "-").replace("+", "-")


def endpoint(cluster: Cluster) -> str:
    """Return the URL of the store."""
    return f"http://{LOCALHOST}:{cluster.ports[0]}"


def is_answered(url: str) -> bool:
    """Return whether a server answers, without an error."""
    try:
        _send(url)
    except OSError:
        return False
    return True


def _send(url: str, body: str | None = None, **headers: str) -> None:
    """Send a request, PUT if it has a body. Raises OSError without an answer, or if that is an error."""
    request = urllib.request.Request(  # noqa: S310  http
        url,
        data=None if body is None else body.encode(),
        method="GET" if body is None else "PUT",
        headers={"Content-Type": XML, **headers},
    )
    # A proxy that the user has configured cannot reach this machine's 127.0.0.1.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=ANSWER_S):
        pass
