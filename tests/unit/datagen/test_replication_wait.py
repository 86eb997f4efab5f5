"""The wait for copies that the file system is still creating has an end. The clock is scripted."""

import io
from contextlib import redirect_stderr

from datagen.observed_layout import StoredFile, StoredFiles
from datagen.writer import wait_for_copies
from harness.model.layout import Layout

TWO = Layout.parse("replicated:2")


class Scripted:
    """Observations one after another, the last one for ever; each sleep advances the clock."""

    def __init__(self, *missing: int, excess: int = 0) -> None:
        self._missing = list(missing)
        self._excess = excess
        self.now = 0.0
        self.output = io.StringIO()

    def observe(self) -> StoredFiles:
        missing = self._missing.pop(0) if len(self._missing) > 1 else self._missing[0]
        return StoredFiles({"part": StoredFile(TWO, 1, missing=missing, excess=self._excess)})

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wait(self, patience_s: float = 10, layout: Layout | None = TWO) -> StoredFiles:
        with redirect_stderr(self.output):
            return wait_for_copies(self.observe, layout, patience_s, lambda: self.now, self.sleep)

    def lines(self) -> list[str]:
        return self.output.getvalue().splitlines()


def test_complete_files_are_not_waited_for() -> None:
    scripted = Scripted(0)
    assert scripted.wait().missing == 0
    assert (scripted.now, scripted.lines()) == (0, [])


def test_each_new_copy_restarts_the_patience() -> None:
    scripted = Scripted(3, 3, 3, 2, 2, 2, 1, 1, 1, 0)
    assert scripted.wait(patience_s=4).missing == 0
    assert scripted.now == 9
    assert scripted.lines()[0] == (
        "waiting until the file system has created 3 copies or stripes and deleted 0; "
        "giving up in 4 s without progress"
    )
    assert len(scripted.lines()) == 3  # a log gets a line per change, not per second


def test_without_progress_it_gives_up() -> None:
    scripted = Scripted(3, 2)
    assert scripted.wait(patience_s=5).missing == 2
    assert scripted.now == 6


def test_a_copy_that_disappears_and_returns_is_no_progress() -> None:
    scripted = Scripted(*[2, 3] * 50)
    assert scripted.wait(patience_s=5).missing in {2, 3}
    assert scripted.now == 5


def test_the_deletion_of_excess_copies_is_waited_for() -> None:
    scripted = Scripted(0, excess=1)
    assert scripted.wait(patience_s=5).excess == 1
    assert "has created 0 copies or stripes and deleted 1" in scripted.lines()[0]


def test_files_of_another_layout_are_not_waited_for() -> None:
    scripted = Scripted(3)
    scripted.wait(layout=Layout.parse("replicated:3"))
    assert scripted.now == 0
