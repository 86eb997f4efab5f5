"""`spark-submit jobs/probe_agents.py --directory PATH`: let probes run commands on the executors' hosts.

`clusterlift probe --via spark` starts this application, and it ends when that command ends.
"""

import sys
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import AuthenticationError
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
    spark_errors_as_one_line,
    start_session,
    wait_for_executors,
)
from harness.hosts.transports.spark.agent import CONNECTION_LOST, run_agent
from harness.hosts.transports.spark.owner import RELAY, end_with_owner
from harness.hosts.transports.spark.relay import Relay, executors_line
from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.command_line import Parser, run_main, whole_number
from harness.terminal import show
from jobs.executors import one_partition_per_executor, partition_executors

PROG = "probe_agents.py"
JOB_GROUP = "clusterlift: probe agents"
START_S = 60.0


def main() -> int:
    """Start an agent on every host, announce the hosts, and serve them until the owner has ended."""
    parser = Parser(PROG, __doc__ or "")
    parser.add_argument(
        "--directory", type=Path, required=True, help="where the sockets of owner and relay are"
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535),
        default=0,
        help="port of the driver that executors connect to; 0 is any free one",
    )
    options = parser.parse_args()
    end_with_owner(options.directory)
    spark = start_session("clusterlift probe", jobs)
    with spark_errors_as_one_line("Spark failed"):
        wait_for_executors(spark)
        relay_commands(spark, options.directory / RELAY, options.port)
    return 0


def relay_commands(spark: SparkSession, path: Path, port: int) -> None:
    """Relay commands from `path` to an agent on each host, until there is none any more.

    Raise BadInput if `port` cannot be listened at, ClusterliftError if no agent comes, and Spark's error if
    Spark ends the agents.
    """
    hosts = executor_hosts(spark)
    by_host = {host: id_ for id_, host in reversed(hosts.items())}
    executors = {id_: host for host, id_ in by_host.items()}
    conf = spark.sparkContext.getConf()
    driver = str(conf.get("spark.driver.host", "localhost"))  # where executors find it
    listen_at = str(conf.get("spark.driver.bindAddress") or driver)
    try:
        listening = Relay(path, (listen_at, port), len(executors))
    except OSError as error:
        raise BadInput(
            f"--spark-port {port}: cannot listen for executors at {listen_at}: {error.strerror}"
        ) from error
    with listening as relay:
        spark.sparkContext.setJobGroup(JOB_GROUP, JOB_GROUP)
        ended: Future[list[int]] = Future()
        arguments = (spark, executors, relay, driver, ended)
        InheritableThread(target=_run_agents, args=arguments, daemon=True).start()
        connected = relay.await_agents(len(executors), START_S)
        # Spark says which executor runs a task: if one is gone, another one may run its task.
        agents = {
            hosts[executor]: str(partition)
            for partition, executor in partition_executors(spark, JOB_GROUP).items()
            if executor in hosts and str(partition) in connected
        }
        reason = (
            f"did not reach the driver at {driver}, port {relay.port}: "
            "open that port, or the one that --spark-port names"
        )
        if not agents:
            if ended.done():
                ended.result()
            raise ClusterliftError(f"the executors {reason}")
        for host in set(by_host).difference(agents):
            agents[host] = host  # no agent has the name of a host
            relay.exclude(host, f"its executor {reason}")
        show(executors_line(agents))
        ended.result()


def _run_agents(
    spark: SparkSession,
    executors: dict[str, str],
    relay: Relay,
    driver: str,
    ended: Future[list[int]],
) -> None:
    """Run one task on each executor, until the relay is closed. The number of a task names its agent."""
    address, key = (driver, relay.port), relay.key

    def run(partition: int, _: object) -> list[int]:
        task = TaskContext.get()
        # Spark repeats the task of an executor that has gone on another one, which is another host's.
        if task is not None and task.attemptNumber() == 0:
            # A task that fails would end those on the other executors.
            with suppress(AuthenticationError, *CONNECTION_LOST):
                run_agent(address, key, str(partition))
        return []

    try:
        tasks = one_partition_per_executor(spark, executors).mapPartitionsWithIndex(run)
        ended.set_result(tasks.collect())
    except (Py4JError, PySparkException, OSError) as error:
        ended.set_exception(error)
    finally:
        relay.expect_no_more_agents()


if __name__ == "__main__":
    run_main(PROG, main)
