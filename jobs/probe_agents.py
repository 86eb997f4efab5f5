"""`spark-submit jobs/probe_agents.py --socket PATH`: lets the probes reach the executors' hosts.

Started by `clusterlift probe --via spark`, and ends when that hangs up.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

# spark-submit put this script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from py4j.protocol import Py4JError
from pyspark import InheritableThread, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import jobs
from datagen.spark.errors import root_cause, spark_errors_as_one_line
from datagen.spark.session import executor_hosts, start_session, wait_for_executors
from harness.model.errors import ClusterliftError
from harness.probes.transports.spark.agent import hand
from harness.probes.transports.spark.frames import EXECUTORS_LINE
from harness.probes.transports.spark.relay import Relay
from harness.runtime.command_line import run_main
from jobs.executors import one_partition_per_executor, partition_executors

PROG = "jobs/probe_agents.py"
JOB_GROUP = "clusterlift: hands of the probes"
START_S = 60.0


def main() -> int:
    """Give every host a hand, say so, and wait until nobody needs them."""
    parser = argparse.ArgumentParser(PROG, description=__doc__)
    parser.add_argument("--socket", type=Path, required=True)
    path = parser.parse_args().socket
    spark = start_session("clusterlift probe", jobs)
    with spark_errors_as_one_line("Spark failed"):
        wait_for_executors(spark)
        reach(spark, path)
    return 0


def reach(spark: SparkSession, path: Path) -> None:
    """Raises ClusterliftError if no executor lends a hand."""
    by_host = {host: id_ for id_, host in reversed(executor_hosts(spark).items())}
    executors = {id_: host for host, id_ in by_host.items()}
    with Relay(path) as relay:
        InheritableThread(target=_lend, args=(spark, executors, relay), daemon=True).start()
        at_hand = relay.await_hands(len(executors), START_S)
        # A task that went elsewhere would have another host measured under this one's name.
        where = partition_executors(spark, JOB_GROUP)
        found = [
            host
            for partition, (id_, host) in enumerate(executors.items())
            if host in at_hand and where.get(partition) == id_
        ]
        for host in sorted(set(executors.values()).difference(found)):
            print(f"{host}: its executor does not reach the driver", file=sys.stderr)
        if not found:
            raise ClusterliftError(f"no executor reached the driver at {_address(spark)}")
        print(f"{EXECUTORS_LINE}{json.dumps(sorted(found))}", flush=True)
        relay.await_end()


def _lend(spark: SparkSession, executors: dict[str, str], relay: Relay) -> None:
    """One task on each, until the hub is closed."""
    spark.sparkContext.setJobGroup(JOB_GROUP, JOB_GROUP)
    hosts, address, secret = list(executors.values()), (_address(spark), relay.port), relay.secret

    def serve(_: object) -> list[int]:
        context = TaskContext.get()
        assert context is not None  # noqa: S101  it is a task
        hand(address, secret, hosts[context.partitionId()])
        return []

    try:
        one_partition_per_executor(spark, executors).mapPartitions(serve).collect()
    except (Py4JError, PySparkException) as error:
        print(f"an executor lends no hand any more: {root_cause(error)}", file=sys.stderr)
    finally:
        relay.expect_no_more()


def _address(spark: SparkSession) -> str:
    """Where executors find the driver."""
    return str(spark.sparkContext.getConf().get("spark.driver.host", "localhost"))


if __name__ == "__main__":
    run_main(PROG, main)
