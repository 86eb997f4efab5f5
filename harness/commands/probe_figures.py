"""The part of the report that is about probes: their findings and tables."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from harness.model.probe import RecordedProbes
from harness.present.blocks import Table
from harness.present.findings import finding_lines
from harness.present.probes.columns import MeasurementTable
from harness.present.report.figure import Evidence, Figure, Section
from harness.probes.kind import NewestProbe, all_findings, by_kind, kinds

FINDINGS_ORDER = 65
"""Findings come before the pictures of probes."""
TABLES_ORDER = 105
"""Tables come after the pictures of probes."""


def probe_sections(newest: Mapping[str, Sequence[NewestProbe]]) -> Iterator[Section]:
    """Yield the sections of the newest probes, by configuration; none without a probe."""
    if not any(newest.values()):
        return
    yield Section(FINDINGS_ORDER, "probes", "What probes found", lambda _: _findings_figure(newest))
    newest_of = {name: by_kind(found) for name, found in newest.items()}
    for kind in kinds().values():
        for number, declared in enumerate(kind.tables):
            rows = _rows(kind.name, declared, newest_of)
            if not rows:
                continue
            anchor = f"probe-{kind.name}{number or ''}"
            title = f"probe {kind.name}"
            if declared.title:
                title += f": {declared.title}"
            table = Table(("configuration", *declared.headings), rows)
            yield Section(TABLES_ORDER, anchor, title, partial(_table_figure, table))


def _table_figure(table: Table, _: Evidence) -> Figure:
    return Figure(table)


def _findings_figure(newest: Mapping[str, Sequence[NewestProbe]]) -> Figure:
    """Return the findings of the gate on the same probes, and notes."""
    rows = []
    remarks = []
    lines = []
    for name, found in newest.items():
        for probe in found:
            remarks.append(f"{name}: {probe}.")
            for each in probe.findings:
                row = (name, str(probe), str(each.subject), each.gravity.value, each.text)
                rows.append(row)
        lines += [f"{name}: {line}" for line in finding_lines(all_findings(found))]
    headings = ("configuration", "probe", "host or path", "", "finding")
    return Figure(numbers=Table(headings, rows), remarks=tuple(remarks), lines=tuple(lines))


def _rows(
    kind: str, table: MeasurementTable, newest: Mapping[str, Mapping[str, RecordedProbes]]
) -> list[tuple[str, ...]]:
    """Return the rows of a table of a kind of probe, of all configurations."""
    rows: list[tuple[str, ...]] = []
    for name, of_kind in newest.items():
        if kind in of_kind:
            own = table.rows(of_kind[kind])
            rows += [(name, *cells) for cells in table.lines(own)]
    return rows
