"""RFC 6349's figures of each path, and the loss and delay of rising rates up to the expected one."""

from harness.analysis.network.path import (
    Fault,
    Limits,
    PathFigures,
    Step,
    figures_of,
    step_sentences,
    steps_of,
)
from harness.model.link import rate_text
from harness.model.probe import RecordedProbes
from harness.present.probes import UNKNOWN, page
from harness.present.table import Footnotes
from harness.present.text import fill, simple_table
from harness.terminal import shorten, visible

_HEADINGS = (
    "TCP",
    "Mbit/s",
    "time ratio",
    "efficiency",
    "idle RTT µs",
    "RTT µs",
    "buffer delay",
)
_STEP_HEADINGS = ("UDP", "rate", "received", "loss", "jitter µs", "p50 µs", "p99 µs", "")
_NAME_WIDTH = 32
_RULE = (
    "Time ratio: the time of the transfer, divided by the ideal time at the bottleneck's rate. Efficiency: "
    "the bytes that were not retransmissions, of all transmitted. Buffer delay: what the transfer adds to "
    "the least round trip on the idle path, relative to that (RFC 6349)."
)


def render(probed: RecordedProbes) -> str:
    """Return a line for each path, a line for each step of its rate, and which paths fail a step."""
    figures, steps = figures_of(probed.measurements), steps_of(probed.measurements)
    if not figures and not steps:
        return "no path was measured\n"
    notes = Footnotes()
    rows = [_row(path, notes) for path in figures]
    unknown = any(path.time_ratio is None and path.goodput_bit_s for path in figures)
    hint = "time ratio ?: the rate of a link is not known; give it with --rate" if unknown else ""
    return page(
        (simple_table(_HEADINGS, rows), hint, fill(_RULE), _steps(probed, steps, notes)), notes
    )


def failed_steps(probed: RecordedProbes) -> list[Step]:
    """Return the steps that do not pass."""
    rate, limits = _expected(probed)
    return [step for step in steps_of(probed.measurements) if step.fault(rate, limits)]


def _steps(probed: RecordedProbes, steps: list[Step], notes: Footnotes) -> str:
    if not steps:
        return ""
    rate, limits = _expected(probed)
    rows = [_step_row(step, step.fault(rate, limits), notes) for step in steps]
    lines = [fill(line) for line in step_sentences(steps, rate, limits)]
    rule = (
        f"steps of UDP up to {rate_text(round(rate))} on the wire (ITU-T Y.1564); a step passes up to "
        f"{limits}; p50, p99: round trips of a small message beside"
    )
    return "\n".join([fill(rule), simple_table(_STEP_HEADINGS, rows), "", *lines])


def _expected(probed: RecordedProbes) -> tuple[float, Limits]:
    """Return the rate and the limits with which the probe was called."""
    given = probed.run.parameters
    delay = given.get("max_delay_ms")
    return (
        float(given.get("rate_bit_s") or 0),
        Limits(float(given.get("max_loss_percent") or 0), float(delay) if delay else None),
    )


def _row(path: PathFigures, notes: Footnotes) -> list[str]:
    mark = notes.mark(path.errors[:1])
    if path.goodput_bit_s is None:
        return [_path_name(path.subject), f"failed{mark}", "", "", "", "", ""]
    return [
        f"{_path_name(path.subject)}{mark}",
        f"{path.goodput_bit_s / 1e6:,.1f}",
        _cell(path.time_ratio, ".2f"),
        _cell(path.efficiency, ".3f", "%"),
        _cell(path.baseline_us, ",.0f"),
        _cell(path.transfer_us, ",.0f"),
        _cell(path.buffer_delay, ",.0f", "%"),
    ]


def _step_row(step: Step, fault: Fault | None, notes: Footnotes) -> list[str]:
    mark = notes.mark(step.errors[:1])
    if step.received_bit_s is None:
        return [_path_name(step.subject), f"{step.percent}%", f"failed{mark}", *[""] * 4, "FAIL"]
    return [
        f"{_path_name(step.subject)}{mark}",
        f"{step.percent}%",
        f"{step.received_bit_s / 1e6:,.1f}",
        _cell(step.loss_percent, ".2f", "%"),
        _cell(step.jitter_us, ",.0f"),
        _cell(step.p50_us, ",.0f"),
        _cell(step.p99_us, ",.0f"),
        f"FAIL: {fault.name}" if fault else "pass",
    ]


def _path_name(subject: str) -> str:
    return shorten(visible(subject), _NAME_WIDTH)


def _cell(value: float | None, form: str, unit: str = "") -> str:
    return UNKNOWN if value is None else f"{value:{form}}{unit}"
