"""Shuffle: the inner join with broadcast counts, so that the rows stay on their executors."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.model.errors import WrongAnswer
from jobs.workload import Answer, Bottleneck, Context, Workload
from jobs.workloads.inner_join import check_join, observed, rows_per_prefix2


class BroadcastInnerJoin(Workload):
    name = "broadcast-inner-join"
    bottleneck = Bottleneck.SHUFFLE

    def frame(self, context: Context) -> DataFrame:
        return context.data.join(F.broadcast(rows_per_prefix2(context.data)), "prefix2")

    def observe(self, context: Context) -> Mapping[str, Column]:
        return observed()

    def check(self, answer: Answer, context: Context) -> None:
        check_join(answer, context)

    def check_plan(self, plan: str) -> None:
        if "BroadcastHashJoin" not in plan or "SortMergeJoin" in plan:
            raise WrongAnswer("the plan has no broadcast join: the counts were not broadcast")
