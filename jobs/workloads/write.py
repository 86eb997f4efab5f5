"""Output: write every row as it is, beside the dataset, in its format and layout."""

from __future__ import annotations  # for Python 3.8

from pyspark.sql import DataFrame

from jobs.workload import Bottleneck, Context, EveryRow


class Write(EveryRow):
    name = "write"
    bottleneck = Bottleneck.OUTPUT
    writes = True

    def frame(self, context: Context) -> DataFrame:
        return context.data
