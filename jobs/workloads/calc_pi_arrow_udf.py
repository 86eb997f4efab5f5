"""CPU: Pi by a Python function over whole Arrow batches, as it would be written today."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from jobs.pi_estimate import PythonPiEstimate, seed_of
from jobs.workload import Context

if TYPE_CHECKING:
    import pyarrow as pa


def inside(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield, for each batch of n samples, how many of n random points are inside the quarter circle."""
    # Imported on the executors: the driver may not have it.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    for batch in batches:
        n = batch.num_rows
        first = 0
        if n:
            first = batch.column(0)[0].as_py()
        x = pc.random(n, initializer=seed_of(2 * first))
        y = pc.random(n, initializer=seed_of(2 * first + 1))
        squares = pc.add(pc.multiply(x, x), pc.multiply(y, y))
        hits = pc.sum(pc.less_equal(squares, 1.0)).as_py() or 0
        yield pa.RecordBatch.from_pydict({"inside": [hits], "samples": [n]})


class CalcPiArrowUdf(PythonPiEstimate):
    name = "calc-pi-arrow-udf"
    requires = ("pandas", "pyarrow")  # Spark requires pandas for Arrow

    def frame(self, context: Context) -> DataFrame:
        samples = context.spark.range(0, context.pi_samples, 1, context.parallelism)
        return samples.mapInArrow(inside, "inside long, samples long")
