"""Observing many small files on HDFS takes a few times as long as listing them."""

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

from datagen.filesystem import Directory
from datagen.storage import locate
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import running

FILES = int(os.environ.get("FILES", "2000"))
WRITERS = 16
ROUNDS = 5
MAX_RATIO = 8
"""It is about 2."""


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def write_small(directory: Directory, number: int) -> None:
    child, buffer, copies, block = directory.child(f"part-{number:05}"), 4096, 1, 2**27
    stream = directory.fs.create(child, True, buffer, copies, block)  # noqa: FBT003  Java's signature
    stream.write(bytearray(b"x"))
    stream.close()


def test_many_files(bench_spark: SparkSession) -> None:
    with running(HdfsCluster({}), 1) as cluster:
        directory, storage = locate(bench_spark, f"{cluster.uri}/many")
        directory.create()
        with ThreadPoolExecutor(WRITERS) as pool:  # writing is waiting
            list(pool.map(lambda number: write_small(directory, number), range(FILES)))
        names = directory.entries().keys()
        listings, observations = [], []
        for _ in range(ROUNDS):
            listings.append(seconds(lambda: Directory(bench_spark, directory.uri).entries()))
            observations.append(seconds(lambda: storage.observe(directory, names)))
        stored = storage.observe(directory, names)
        assert len(stored.files) == FILES
        assert stored.missing == 0
    listing, observation = statistics.median(listings), statistics.median(observations)
    print(
        f"\n{FILES} files: listed in {listing:.2f} s, observed in {observation:.2f} s "
        f"({1000 * observation / FILES:.2f} ms a file, {observation / listing:.1f} listings)"
    )
    assert observation < MAX_RATIO * listing
