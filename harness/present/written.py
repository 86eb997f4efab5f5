"""What workloads that write stored, sent and wrote to disks for each byte, in a sentence each."""

from collections.abc import Iterator

from harness.analysis.explain.attribution import Explanation
from harness.analysis.explain.written import PerWrittenByte, per_written_byte
from harness.base.words import visible

_MEANING = (
    "Stored: on all nodes together. Sent: by all nodes, without shuffled rows, but with input for tasks on "
    "other nodes. To disks: before the trial ended; the rest was still in memory."
)


def written_sentences(explanation: Explanation) -> Iterator[str]:
    """Yield a sentence for each workload that writes, and what it means; nothing if none does."""
    before, after = explanation.comparison.columns
    sides = {"before": before.runs, "after": after.runs}
    sentences = []
    for row in explanation.rows:
        texts = []
        for side, runs in sides.items():
            ratios = per_written_byte(runs, row.workload)
            if ratios:
                texts.append(f"{side} {_text(ratios)}")
        if texts:
            name = visible(row.workload)
            sentences.append(f"For each byte that {name} wrote: {'; '.join(texts)}.")
    yield from sentences
    if sentences:
        yield _MEANING


def _text(ratios: PerWrittenByte) -> str:
    stored = "stored"
    if ratios.promised:
        stored += f" ({visible(ratios.layouts)} takes {ratios.promised:.2f})"
    bytes_ = {stored: ratios.stored, "sent": ratios.sent, "to disks": ratios.to_disks}
    known = [f"{ratio:.2f} {what}" for what, ratio in bytes_.items() if ratio is not None]
    return ", ".join(known) or "unknown"
