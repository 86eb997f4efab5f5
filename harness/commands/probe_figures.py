"""What probes add to the report: their findings and tables."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from harness.model.probe import RecordedProbes
from harness.present.blocks import Table
from harness.present.findings import finding_lines
from harness.present.report.figure import Evidence, Figure, Section
from harness.probes.kind import ProbeKind
from harness.probes.kinds import NewestProbe, by_kind, kinds

FINDINGS_ORDER, TABLES_ORDER = 65, 105
"""Findings come before the pictures of probes, and tables after them."""


def probe_sections(newest: Mapping[str, Sequence[NewestProbe]]) -> Iterator[Section]:
    """Yield the sections of the newest probes, by configuration; none without a probe."""
    if not any(newest.values()):
        return
    yield Section(FINDINGS_ORDER, "probes", "What probes found", lambda _: _findings_figure(newest))
    newest_of = {name: by_kind(found) for name, found in newest.items()}
    for kind in kinds().values():
        for number, table in enumerate(_tables(kind, newest_of)):
            anchor = f"probe-{kind.name}{number or ''}"
            draw = partial(_table_figure, table)
            yield Section(TABLES_ORDER, anchor, f"probe {kind.name}", draw)


def _table_figure(table: Table, _: Evidence) -> Figure:
    return Figure(table)


def _findings_figure(newest: Mapping[str, Sequence[NewestProbe]]) -> Figure:
    """Return what the gate says of the same probes, and remarks."""
    rows = tuple(
        (name, str(each), finding.subject, "fault" if finding.is_fault else "note", finding.text)
        for name, found in newest.items()
        for each in found
        for finding in each.findings
    )
    return Figure(
        numbers=Table(("configuration", "probe", "host or path", "", "finding"), rows),
        remarks=tuple(f"{name}: {each}." for name, found in newest.items() for each in found),
        lines=tuple(
            f"{name}: {line}"
            for name, found in newest.items()
            for line in finding_lines([finding for each in found for finding in each.findings])
        ),
    )


def _tables(kind: ProbeKind, newest: Mapping[str, Mapping[str, RecordedProbes]]) -> Iterator[Table]:
    """Yield each table of a kind that has rows, with the rows of all configurations."""
    for table in kind.tables:
        rows = tuple(
            (name, *cells)
            for name, of_kind in newest.items()
            if kind.name in of_kind
            for cells in table.lines(table.rows(of_kind[kind.name]))
        )
        if rows:
            yield Table(("configuration", *table.headings), rows)
