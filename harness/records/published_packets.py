"""Reads sweeps of packet sizes that others have published, such as tables of netperf, as probe runs.

A line of the CSV file is one direction of one transfer, with MTUs that were really set. The header is

    sender,receiver,mtu_bytes,direction,goodput_bit_s,sender_cpu_percent,receiver_cpu_percent

and possibly columns that end in `_instructions_per_byte` and `_cycles_per_byte` for sender and receiver. The
direction is `one way` or `both ways`; of the latter, a pair of hosts has a line for each direction. Percents
are those of all processors of a host. An empty field is a value that was not published.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness import __version__
from harness.model.errors import BadInput
from harness.model.network_metrics import (
    BOTH_WAYS,
    CYCLES,
    INSTRUCTIONS,
    PACKET_CPU,
    PACKET_GOODPUT,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import ARROW, Measurement, Metric, ProbeRun
from harness.records.regular_file import regular_file

ONE_WAY = "one way"
KEYS = ["sender", "receiver", "mtu_bytes", "direction"]
METRICS: Mapping[str, Metric] = {
    metric.name: metric for metric in (PACKET_GOODPUT, *PACKET_CPU, *INSTRUCTIONS, *CYCLES)
}
"""By the names of their columns."""
MANDATORY = [*KEYS, *list(METRICS)[:3]]
MIN_BYTES, MAX_BYTES = 68, 65535
"""RFC 791: what every link carries, and the largest packet of IPv4."""
MAX_BIT_S, MAX_PER_BYTE, PERCENT = 1e13, 1e9, 100


def has_packets(path: Path) -> bool:
    """Whether a file begins as a sweep of packet sizes does; False if it cannot be read."""
    try:
        with regular_file(path) as content:
            return content.read(64).decode("utf-8-sig", "replace").startswith(",".join(KEYS))
    except (BadInput, OSError):
        return False


def read_published_packets(
    path: Path, configuration: str, facts: Mapping[str, str]
) -> tuple[ProbeRun, tuple[Measurement, ...]]:
    """Return a sweep as a probe run, and its measurements. When it was measured is not recorded.

    Raise BadInput that names the file and the line, unless every value is one that a measurement may have.
    """
    measurements: list[Measurement] = []
    for where, values in _lines(path):
        measurements += _measurements(values, where)
    if not measurements:
        raise BadInput(f"{path} has no line of a transfer")
    hosts = (host for each in measurements for host in each.subject.split(ARROW))
    run = ProbeRun(
        configuration,
        tuple(dict.fromkeys(hosts)),
        {"probe": "mtu", "imported_from": path.name},
        dict(facts),
        written_by=f"clusterlift {__version__}, imported from a published table",
    )
    return run, tuple(measurements)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place of each line, and its values by column."""
    try:
        with regular_file(path) as content:
            lines = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
            reader = csv.reader(lines, strict=True)
            header = next(reader, [])
            _check(header, f"{path}:1")
            for fields in reader:
                where = f"{path}:{reader.line_num}"
                if len(fields) != len(header):
                    raise BadInput(f"{where}: {','.join(header)} are expected, not {fields}")
                stripped = (field.strip() for field in fields)
                yield where, dict(zip(header, stripped, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: not a CSV file in UTF-8: {error}") from error


def _check(header: Sequence[str], where: str) -> None:
    unknown = [name for name in header if name not in {*KEYS, *METRICS}]
    if header[: len(MANDATORY)] != MANDATORY or unknown or len(set(header)) < len(header):
        others = ", ".join(list(METRICS)[3:])
        raise BadInput(
            f"{where}: the header is not {','.join(MANDATORY)}, which any of {others} may follow"
        )


def _measurements(values: Mapping[str, str], where: str) -> Iterator[Measurement]:
    for name in ("sender", "receiver"):
        if not values[name] or not values[name].isprintable() or ARROW in values[name]:
            raise BadInput(f"{where}: {values[name]!r} is not the name of a host")
    if values["sender"] == values["receiver"]:
        raise BadInput(f"{where}: the sender {values['sender']!r} is also the receiver")
    if values["direction"] not in {ONE_WAY, BOTH_WAYS}:
        raise BadInput(
            f"{where}: {values['direction']!r} is not a direction; {ONE_WAY} or {BOTH_WAYS} is expected"
        )
    size = values["mtu_bytes"]
    if not (size.isascii() and size.isdecimal() and MIN_BYTES <= int(size[:9]) <= MAX_BYTES):
        raise BadInput(
            f"{where}: {size!r} is not an MTU; {MIN_BYTES} to {MAX_BYTES} bytes are expected"
        )
    case = PacketCase(int(size), values["direction"] == BOTH_WAYS, mtu_is_set=True)
    subject = f"{values['sender']}{ARROW}{values['receiver']}"
    if not values[PACKET_GOODPUT.name]:
        raise BadInput(f"{where}: a transfer needs a {PACKET_GOODPUT.name}")
    for name, metric in METRICS.items():
        if values.get(name):
            yield metric.of(subject, _number(metric, values[name], where), str(case))


def _number(metric: Metric, text: str, where: str) -> float:
    if metric is PACKET_GOODPUT:
        lowest, highest = 1.0, MAX_BIT_S
    else:
        lowest, highest = 0.0, PERCENT if metric.unit == "%" else MAX_PER_BYTE
    try:
        value = float(text.replace("_", "?"))  # Python reads 1_0 as 10
    except ValueError:
        value = math.nan
    if not lowest <= value <= highest:
        raise BadInput(
            f"{where}: {text!r} is not a {metric.name}; {lowest:g} to {highest:g} {metric.unit} are expected"
        )
    return value
