"""`spark-submit jobs/probe_agents.py --socket PATH`: let probes run commands on the executors' hosts.

`clusterlift probe --via spark` starts this application, and it ends when that command closes its connection.
Executors connect to the driver at a free port, or at the one that `--conf spark.clusterlift.relayPort` names.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

# spark-submit put this script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from harness.runtime.interrupt import end_at_ctrl_c

if __name__ == "__main__":
    end_at_ctrl_c()  # while the rest is loaded

from py4j.protocol import Py4JError
from pyspark import InheritableThread, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import jobs
from datagen.spark import (
    executor_hosts,
    root_cause,
    spark_errors_as_one_line,
    start_session,
    wait_for_executors,
)
from harness.model.errors import BadInput, ClusterliftError
from harness.probes.transports.spark.agent import CONNECTION_LOST, run_agent
from harness.probes.transports.spark.relay import EXECUTORS_LINE, Relay
from harness.runtime.command_line import Parser, run_main
from harness.terminal import say, show
from jobs.executors import one_partition_per_executor, partition_executors

PROG = "jobs/probe_agents.py"
JOB_GROUP = "clusterlift: probe agents"
PORT_CONF = "spark.clusterlift.relayPort"
START_S = 60.0


def main() -> int:
    """Start an agent on every host, announce the hosts, and wait until the probes have ended."""
    parser = Parser(PROG, __doc__ or "")
    parser.add_argument("--socket", type=Path, required=True)
    path = parser.parse_args().socket
    spark = start_session("clusterlift probe", jobs)
    with spark_errors_as_one_line("Spark failed"):
        wait_for_executors(spark)
        relay_commands(spark, path)
    return 0


def relay_commands(spark: SparkSession, path: Path) -> None:
    """Relay commands from `path` to an agent on each host. Raise ClusterliftError if there is none."""
    by_host = {host: id_ for id_, host in reversed(executor_hosts(spark).items())}
    executors = {id_: host for host, id_ in by_host.items()}
    with _relay(spark, path) as relay:
        InheritableThread(target=_run_agents, args=(spark, executors, relay), daemon=True).start()
        connected = relay.await_agents(len(executors), START_S)
        # A task that ran elsewhere would have another host measured under this one's name.
        where = partition_executors(spark, JOB_GROUP)
        found = [
            host
            for partition, (id_, host) in enumerate(executors.items())
            if host in connected and where.get(partition) == id_
        ]
        driver = f"{_driver_host(spark)}, port {relay.port}"
        for host in sorted(set(executors.values()).difference(found)):
            reason = (
                "Spark may have run its task on another executor; try again"
                if host in connected
                else f"its executor did not reach the driver at {driver}; open that port, or set {PORT_CONF}"
            )
            say(f"{host} is not probed: {reason}")
        if not found:
            raise ClusterliftError(
                f"no executor reached the driver at {driver}; open that port, or set {PORT_CONF}"
            )
        show(f"{EXECUTORS_LINE}{json.dumps(sorted(found))}")
        relay.await_owner_end()


def _relay(spark: SparkSession, path: Path) -> Relay:
    port = str(spark.sparkContext.getConf().get(PORT_CONF, "0"))
    try:
        return Relay(path, int(port))
    except (OSError, OverflowError, ValueError) as error:
        raise BadInput(f"cannot listen for executors ({PORT_CONF}={port}): {error}") from error


def _run_agents(spark: SparkSession, executors: dict[str, str], relay: Relay) -> None:
    """Run one task on each executor, until the relay is closed."""
    spark.sparkContext.setJobGroup(JOB_GROUP, JOB_GROUP)
    hosts, address, key = list(executors.values()), (_driver_host(spark), relay.port), relay.key

    def run(_: object) -> list[int]:
        context = TaskContext.get()
        assert context is not None  # noqa: S101  it is a task
        # A task that fails would end those on the other executors.
        with suppress(*CONNECTION_LOST):
            run_agent(address, key, hosts[context.partitionId()])
        return []

    try:
        one_partition_per_executor(spark, executors).mapPartitions(run).collect()
    except (Py4JError, PySparkException) as error:
        say(
            f"the executors stopped, because their Spark job failed: {root_cause(error)}; probe again"
        )
    finally:
        relay.expect_no_more_agents()


def _driver_host(spark: SparkSession) -> str:
    """Return the address at which executors find the driver."""
    return str(spark.sparkContext.getConf().get("spark.driver.host", "localhost"))


if __name__ == "__main__":
    run_main(PROG, main)
