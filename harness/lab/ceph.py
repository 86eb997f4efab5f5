"""The lab's Ceph: a monitor and a gateway on the master, and an OSD on each worker.

The master runs this file, with the standard library alone: `prepare NODES ADDRESS` writes what all nodes read
before they start, and `buckets NODES` waits for the gateway and makes a bucket for each layout.
"""

import json
import sys
import time
from pathlib import Path

from harness.base.http_request import Credentials
from harness.lab.storages import ceph_bucket, ceph_layouts
from harness.minicluster.buckets import bucket_name, create_bucket, is_answered, new_credentials
from harness.minicluster.ceph_configuration import CephPlan
from harness.minicluster.s3a import s3a_properties
from harness.model.spark_properties import S3A_CEPH_CONF
from harness.submit.spark_configuration import properties_text

DIRECTORY = Path("/secret/ceph")
"""All nodes share it."""
DATA = Path("/data")
"""Each node has its own."""
GATEWAY_PORT = 7480
MONITOR_PORT = 3300
POLL_S = 0.5


def prepare(nodes: int, address: str) -> None:
    """Write the configuration of Ceph and of Spark, with new keys. `address` is the master's.

    The containers' users may read all of it: the benchmark runs as the user who calls `clusterlift`.
    """
    credentials = new_credentials()
    plan = CephPlan(
        directory=DIRECTORY,
        data=DATA,
        layouts=ceph_layouts(nodes),
        osds=nodes,
        monitor=f"[v2:{address}:{MONITOR_PORT}]",
        gateway=f"0.0.0.0:{GATEWAY_PORT}",
    )
    DIRECTORY.mkdir(exist_ok=True)
    plan.write(credentials)
    properties = {
        "spark.hadoop.fs.defaultFS": f"s3a://{ceph_bucket(None, nodes)}",
        **s3a_properties(
            f"http://master:{GATEWAY_PORT}", credentials, {S3A_CEPH_CONF: str(plan.conf)}
        ),
    }
    (DIRECTORY / "spark-ceph.conf").write_text(properties_text(properties), encoding="utf-8")
    for file in DIRECTORY.iterdir():
        file.chmod(0o644)


def make_buckets(nodes: int) -> None:
    """Wait for the gateway, and make a bucket for each layout."""
    url = f"http://127.0.0.1:{GATEWAY_PORT}"
    while not is_answered(url):
        time.sleep(POLL_S)
    user = json.loads((DIRECTORY / "user.json").read_text(encoding="utf-8"))
    [keys] = user["data"]["keys"]
    credentials = Credentials(keys["access_key"], keys["secret_key"])
    for name in map(bucket_name, ceph_layouts(nodes)):
        create_bucket(url, credentials, name)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", nodes, address]:
            prepare(int(nodes), address)
        case ["buckets", nodes]:
            make_buckets(int(nodes))
