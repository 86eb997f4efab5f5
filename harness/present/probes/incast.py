"""Goodput and delay by the number of flows from or to one host, all to all, and the bisection."""

from harness.analysis.network.incast import (
    COLLAPSE_FRACTION,
    FALL_FRACTION,
    Rung,
    fan_of,
    fan_sentences,
)
from harness.model.probe import RecordedProbes
from harness.present.probes import page
from harness.present.table import Footnotes
from harness.present.text import fill, simple_table
from harness.terminal import percent, visible

_HEADINGS = (
    "flows",
    "Mbit/s",
    "of best",
    "slowest",
    "retransmits",
    "p50 µs",
    "p99 µs",
)
_RULE = (
    "Mbit/s is the goodput in the seconds in which all flows ran; of best: relative to the best at fewer "
    f"flows, below {percent(FALL_FRACTION)} it falls, below {percent(COLLAPSE_FRACTION)} it collapses; "
    "slowest: the slowest flow, relative to an equal share; p50, p99: round trips of a small message beside. "
    "For the bisection, the two halves with the slowest flows in all to all send to each other in pairs, "
    "both ways at once; the slower way counts."
)


def render(probed: RecordedProbes) -> str:
    """Return a line for each number of flows, what they show in sentences, and the rules of judgement."""
    fan = fan_of(probed.measurements)
    notes = Footnotes()
    rows = [
        *([_row("idle", fan.idle, notes)] if fan.idle else []),
        *(_row(f"incast {rung.case}", rung, notes) for rung in fan.incast),
        *(_row(f"outcast {rung.case}", rung, notes) for rung in fan.outcast),
        *([_row(fan.shuffle.case, fan.shuffle, notes)] if fan.shuffle else []),
    ]
    hub = next((rung.subject for rung in (*fan.incast, *fan.outcast)), None)
    title = f"flows from and to {visible(hub)}" if hub else "no flow was measured"
    faults = [*fan.left_out, *(f"bisection: {error}" for error in fan.bisection_errors)]
    sentences = [fill(text) for text in (*faults, *fan_sentences(fan))]
    table = f"{title}\n{simple_table(_HEADINGS, rows)}" if rows else title
    return page((table, "\n".join(sentences), fill(_RULE) if rows else ""), notes)


def _row(name: str, rung: Rung, notes: Footnotes) -> list[str]:
    failed = rung.goodput_bit_s is None and bool(rung.errors)
    mark = notes.mark(rung.errors[:1])
    return [
        f"{visible(name)}{mark}",
        "failed" if failed else _cell(rung.goodput_bit_s, 1e-6, ",.1f"),
        _cell(rung.of_best, 1, ".0%"),
        _cell(rung.slowest_of_share, 1, ".0%"),
        _cell(rung.retransmits, 1, ",.0f"),
        _cell(rung.p50_us, 1, ",.0f"),
        _cell(rung.p99_us, 1, ",.0f"),
    ]


def _cell(value: float | None, factor: float, form: str) -> str:
    return "" if value is None else format(value * factor, form)
