"""Input: the inner join with broadcast counts, so that the rows stay on their executors."""

from __future__ import annotations  # for Python 3.8

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.base.errors import WrongAnswer
from jobs.workload import Bottleneck, Context
from jobs.workloads.inner_join import InnerJoin, rows_per_prefix2


class BroadcastInnerJoin(InnerJoin):
    name = "broadcast-inner-join"
    bottleneck = Bottleneck.INPUT

    def frame(self, context: Context) -> DataFrame:
        return context.data.join(F.broadcast(rows_per_prefix2(context.data)), "prefix2")

    def check_plan(self, plan: str) -> None:
        if "BroadcastHashJoin" not in plan or "SortMergeJoin" in plan:
            raise WrongAnswer("the plan has no broadcast join: the counts were not broadcast")
