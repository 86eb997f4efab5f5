"""perf: the instructions and cycles of all processors of a host in a number of seconds.

They are counted by hardware, which few virtual machines have, and which root can read, or every user where
kernel.perf_event_paranoid is 0 or less. The form is that of perf-stat(1) with -x.
"""

from dataclasses import dataclass

from harness.model.errors import ToolError
from harness.node.kernel import count
from harness.words import first_line

EVENTS = ("instructions", "cycles")
_NOT_SUPPORTED = "<not supported>"
_REFUSALS = ("perf_event_paranoid", "permission", "not permitted", "access to performance")
_VALUE, _EVENT, _FEWEST_FIELDS = 0, 2, 3
# A shell that does not find perf ends with the code by which a host without a shell is known.
_SCRIPT = (
    'command -v perf >/dev/null || { echo "perf is not installed" >&2; exit 1; }; sleep "$0"; '
    f'export LC_ALL=C; exec perf stat -a -x, -e {",".join(EVENTS)} -- sleep "$1"'
)


@dataclass(frozen=True)
class Counters:
    """Instructions and cycles a second, of all processors together."""

    instructions_per_s: float
    cycles_per_s: float


def meter(after_s: int, seconds: int) -> list[str]:
    """Return the command that waits for `after_s`, and then counts for `seconds`."""
    return ["sh", "-c", _SCRIPT, str(after_s), str(seconds)]


def read_meter(errors: str, seconds: int) -> Counters:
    """Read what perf printed, which goes to standard error.

    Raise ToolError that says in words why nothing was counted: no perf, no permission, no such hardware.
    Processors of different kinds count each for itself, such as cpu_core and cpu_atom: the sum is returned.
    """
    counts: dict[str, float] = {}
    for line in errors.splitlines():
        fields = line.split(",")
        event = _event(fields[_EVENT]) if len(fields) >= _FEWEST_FIELDS else None
        if event is not None:
            counts[event] = counts.get(event, 0.0) + _count(fields[_VALUE], event)
    if counts.keys() != set(EVENTS):
        raise ToolError(_reason(errors))
    if min(counts.values()) <= 0:
        raise ToolError("perf counted nothing")
    return Counters(counts["instructions"] / seconds, counts["cycles"] / seconds)


def _event(text: str) -> str | None:
    """Return which of the EVENTS a field names: `cycles`, `cycles:u`, `cpu_core/cycles/`."""
    name, _, modifier = text.partition(":")
    parts = [part for part in name.split("/") if part]
    if not parts or parts[-1] not in EVENTS:
        return None
    if modifier:
        # The work of the network is done in the kernel.
        raise ToolError(f"perf may count no more than {text}; it needs root")
    return parts[-1]


def _count(text: str, event: str) -> float:
    if text == _NOT_SUPPORTED:
        raise ToolError(
            f"no {event} are counted: the processors, or the virtual machine, have no hardware counter for "
            "them"
        )
    number = count(text)
    if number is None:
        raise ToolError(f"perf did not count {event}: {text}")
    return number


def _reason(errors: str) -> str:
    if any(sign in errors.lower() for sign in _REFUSALS):
        return "perf may not count for this user; it needs root, or kernel.perf_event_paranoid of 0 or less"
    return first_line(errors, "perf printed no counts")
