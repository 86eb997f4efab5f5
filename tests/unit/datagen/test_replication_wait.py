"""Copies that are on their way are waited for, with an end. The clock is scripted."""

from __future__ import annotations

import io

from datagen.layout import Layout
from datagen.observed_layout import StoredFiles, StoredFile
from datagen.replication_wait import ReplicationWait

TWO = Layout.parse("replicated:2")


class Scripted:
    """Observations in turn, the last one for ever; every sleep lets its time go by."""

    def __init__(self, *amiss: int, excess: int = 0) -> None:
        self._amiss = list(amiss)
        self._surplus = excess
        self.now = 0.0
        self.said = io.StringIO()

    def observe(self) -> StoredFiles:
        missing = self._amiss.pop(0) if len(self._amiss) > 1 else self._amiss[0]
        return StoredFiles({"part": StoredFile(TWO, 1, missing=missing, excess=self._surplus)})

    def replication_wait(self, patience_s: float) -> ReplicationWait:
        return ReplicationWait(patience_s, 1.0, lambda: self.now, self.sleep, self.said)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wait(self, patience_s: float = 10, layout: Layout | None = TWO) -> StoredFiles:
        return self.replication_wait(patience_s).wait(self.observe, layout)


def lines(scripted: Scripted) -> list[str]:
    return scripted.said.getvalue().splitlines()


def test_what_is_whole_is_not_waited_for() -> None:
    scripted = Scripted(0)
    assert scripted.wait().missing == 0
    assert (scripted.now, lines(scripted)) == (0, [])


def test_each_copy_that_arrives_gives_new_time() -> None:
    scripted = Scripted(3, 3, 3, 2, 2, 2, 1, 1, 1, 0)
    assert scripted.wait(patience_s=4).missing == 0
    assert scripted.now == 9
    assert lines(scripted)[0] == (
        "waiting for 3 copies or stripes to come and 0 to go; gives up in 4 s unless one does"
    )
    assert len(lines(scripted)) == 3  # a log gets a line a change, not a line a second


def test_it_gives_up_when_none_arrives() -> None:
    scripted = Scripted(3, 2)
    assert scripted.wait(patience_s=5).missing == 2
    assert scripted.now == 6


def test_one_that_goes_and_comes_back_is_no_progress() -> None:
    scripted = Scripted(*[2, 3] * 50)
    assert scripted.wait(patience_s=5).missing in {2, 3}
    assert scripted.now == 5


def test_surplus_copies_are_waited_for_too() -> None:
    scripted = Scripted(0, excess=1)
    assert scripted.wait(patience_s=5).excess == 1
    assert "0 copies or stripes to come and 1 to go" in lines(scripted)[0]


def test_another_layout_is_not_waited_for() -> None:
    scripted = Scripted(3)
    scripted.wait(layout=Layout.parse("replicated:3"))
    assert scripted.now == 0


def test_on_a_terminal_the_line_is_rewritten_and_then_gone() -> None:
    scripted = Scripted(1, 1, 0)
    scripted.said.isatty = lambda: True  # type: ignore[method-assign]
    scripted.wait()
    text = scripted.said.getvalue()
    assert "\n" not in text
    assert text.count("waiting for 1 copies") == 2
    assert text.endswith("\r\x1b[K")
