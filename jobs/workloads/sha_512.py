"""CPU: the SHA-512 digest of every value."""

from __future__ import annotations  # for Python 3.8

import hashlib
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.recipe import COLUMNS
from harness.base.errors import WrongAnswer
from jobs.workload import (
    Answer,
    Bottleneck,
    Context,
    Workload,
    expect,
    expect_digest,
    observed_digest,
)

SAMPLES = 200
"""About how many rows are hashed again with hashlib to check Spark's digests."""


class Sha512(Workload):
    name = "sha-512"
    bottleneck = Bottleneck.CPU

    def frame(self, context: Context) -> DataFrame:
        return context.data.withColumn("digest", F.sha2("value", 512))

    def rows(self, context: Context) -> int:
        """Return the number of rows to hash."""
        return context.totals.rows

    def observe(self, context: Context) -> Mapping[str, Column]:
        every = max(1, self.rows(context) // SAMPLES)
        sampled = F.when(F.col("integer_val") % every == 0, F.concat_ws(" ", "value", "digest"))
        observed = {
            "rows": F.count("*"),
            "digests": F.count("digest"),
            "sample": F.concat_ws("\n", F.collect_list(sampled)),
        }
        if self.reads_data:
            observed.update(observed_digest(COLUMNS))
        return observed

    def check(self, answer: Answer, context: Context) -> None:
        rows = self.rows(context)
        expect("rows", answer["rows"], rows)
        expect("digests", answer["digests"], rows)
        sample = answer["sample"].splitlines()
        # Hundreds of rows are expected; none means that the sampling is broken.
        if rows and not sample:
            raise WrongAnswer("no row was sampled to be hashed again")
        for line in sample:
            value, digest = line.split(" ")
            if hashlib.sha512(value.encode()).hexdigest() != digest:
                raise WrongAnswer(f"SHA-512 of {value} is not {digest}")
        if self.reads_data:
            expect_digest(answer, COLUMNS, context)
