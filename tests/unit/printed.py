"""What commands print of comparisons, explanations and runs."""

from collections.abc import Sequence

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.attribution import Explanation
from harness.model.run import RecordedRun
from harness.present import markdown, text
from harness.present.comparison_table import comparison_table
from harness.present.explanation_page import explanation_page
from harness.present.run_page import run_page
from harness.present.use_table import DiskUses, LinkUses


def printed_table(comparison: Comparison) -> str:
    return text.render([comparison_table(comparison)])


def markdown_table(comparison: Comparison) -> str:
    return markdown.render([comparison_table(comparison)])


def printed_explanation(
    explanation: Explanation,
    uses: Sequence[LinkUses] = ({}, {}),
    disks: Sequence[DiskUses] = ({}, {}),
) -> str:
    return text.render(explanation_page(explanation, uses, disks))


def printed_run(recorded: RecordedRun) -> str:
    return text.render(run_page(recorded))
