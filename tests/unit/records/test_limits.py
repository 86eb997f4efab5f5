"""A results file has a size up to which it is written and read; the page on security has the numbers."""

import re
from pathlib import Path

import pytest

from harness.base.checked import MAX_TEXT
from harness.base.errors import BadInput
from harness.base.terminal import MAX_ERROR
from harness.hosts.host_process import ANSWER_S, MAX_ANSWER_BYTES
from harness.model.probe import ExcludedHost, ProbeRun
from harness.records import reader
from harness.records.reader import load_probes
from harness.records.writer import ProbeRecording
from harness.settings.guard import PUT_BACK_S

RUN = ProbeRun("x", ("a",))
DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "security.md"


def test_a_large_run_can_be_read() -> None:
    """99 queries in 24 rounds, on a thousand executors."""
    row = re.search(r"\| 1,000 \| [^|]* \| ([0-9,]+) \|", (DOCS / "architecture.md").read_text())
    assert row
    trial_bytes = int(row[1].replace(",", ""))
    assert 99 * 24 * trial_bytes < reader.MAX_FILE


@pytest.mark.parametrize("limit", ["MAX_FILE", "MAX_LINE"])
def test_a_file_that_is_too_large_is_not_read(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProbeRecording(RUN, tmp_path) as recording:
        recording.event(ExcludedHost("n1", "gone"))
    [file] = tmp_path.glob("x/probes/*.jsonl")
    monkeypatch.setattr(reader, limit, 50)
    with pytest.raises(
        BadInput,
        match=r"jsonl(:1: not a results file: a line has more than|: it is larger than) 50 ",
    ):
        load_probes(file)


@pytest.mark.parametrize(
    "text",
    [
        f"may print {MAX_ANSWER_BYTES // 2**20} MiB",
        f"A host has {ANSWER_S:.0f} seconds to answer",
        f"Guards have {PUT_BACK_S:.0f} seconds",
        f"its length ({reader.MAX_LINE // 2**20} MiB)",
        f"A file has {reader.MAX_FILE // 2**30} GiB at most",
        f"cut at {MAX_TEXT} characters, an error at {MAX_ERROR:,}",
    ],
)
def test_the_page_on_security_has_the_limits(text: str) -> None:
    assert text in " ".join(PAGE.read_text().split())
