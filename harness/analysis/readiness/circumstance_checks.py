"""Whether enough is known of the circumstances in which a baseline was measured."""

from __future__ import annotations

from collections.abc import Iterator

from harness.analysis.column import Column
from harness.analysis.confounders import claims, observed
from harness.analysis.confounders.declared import contradictions
from harness.analysis.confounders.residue import residue
from harness.analysis.readiness.finding import Finding, advice, lacking, listed, ok
from harness.model import Run

_NEEDED = {"kernel": "kernel", "spark": "Spark", "java": "Java", "executors": "executors"}
_TELLING_SCHEMES = frozenset({"hdfs", "qfs"})
"""Of file systems that can say how they keep a file."""


def nothing_contradicted(column: Column) -> Finding:
    """Links and data are what the name and the declared facts say."""
    lines = contradictions(column.runs)
    if lines:
        return lacking(f"{lines[0]}; put right which of them is wrong, and run again")
    return ok("nothing that was observed contradicts them")


def links_known(column: Column) -> Finding:
    """Speed and MTU of a link were observed, or are declared."""
    runs = _runs(column)
    unknown = {
        "speed": not all(map(_knows_speed, runs)),
        "MTU": not all(map(_knows_mtu, runs)),
    }
    if any(unknown.values()):
        lacks = listed(name for name, is_unknown in unknown.items() if is_unknown)
        return lacking(
            f"{lacks} of no link that is up is known; run again with what it is, for example "
            "--fact link=1gbit --fact mtu=1500"
        )
    return ok(listed(told for run in runs for told in _links(run)))


def _knows_speed(run: Run) -> bool:
    is_declared = "link" in run.facts or bool(claims.rates(run.configuration))
    return is_declared or bool(observed.link_speeds(run))


def _knows_mtu(run: Run) -> bool:
    is_declared = "mtu" in run.facts or bool(claims.mtus(run.configuration))
    return is_declared or bool(observed.link_mtus(run))


def _links(run: Run) -> Iterator[str]:
    """What is known of its links: what was declared, what was observed, and else what it is named."""
    yield from (f"{fact}={run.facts[fact]}" for fact in ("link", "mtu") if fact in run.facts)
    speeds = observed.link_speeds(run)
    for node, links in observed.link_mtus(run).items():
        for name, mtu in links.items():
            speed = speeds.get(node, {}).get(name)
            yield f"{name} with MTU {mtu}" + (f" at {speed} Mbit/s" if speed else "")
    if not speeds and "link" not in run.facts:
        yield from (f"{rate} by its name" for rate in claims.rates(run.configuration))


def environment_known(column: Column) -> Finding:
    """What machines and software were."""
    unknown = [
        name
        for key, name in _NEEDED.items()
        if not all(run.environment.get(key) for run in _runs(column))
    ]
    if unknown:
        return lacking(f"{listed(unknown)} not known; run jobs/benchmark.py itself")
    return ok(f"{listed(_NEEDED.values())} are known")


def alike(column: Column) -> Finding:
    """Its own runs do not differ."""
    first, *others = column.runs
    what = [one.what for other in others for one in residue([first], [other])]
    if what:
        return advice(f"its runs differ in {listed(what)}")
    return ok("the same in all runs" if others else "those of one run")


def layout_proven(column: Column) -> Finding:
    """The file system said of every file how it lies, and it is as the manifest says."""
    datasets = [run.dataset for run in _runs(column) if run.dataset]
    if not datasets:
        return advice("no run says that it read data")
    drifts = [layout["drift"] for one in datasets if (layout := one["layout"]).get("drift")]
    if drifts:
        return lacking(f"not as the manifest says: {drifts[0]}; write the data anew and run again")
    layouts = [name for run in _runs(column) for name in observed.layouts(run)]
    if layouts:
        return ok(f"{listed(layouts)}, as the manifest says")
    schemes = sorted({str(one["uri"]).partition(":")[0] for one in datasets})
    if _TELLING_SCHEMES.intersection(schemes):
        return lacking(f"{listed(schemes)} did not say how the data lies; run again")
    return advice(f"{listed(schemes)} does not say how it keeps the data")


def content_checked(column: Column) -> Finding:
    """The rows were held against their digest."""
    unchecked = [
        run.id for run in _runs(column) if run.dataset and not run.parameters.get("content_checked")
    ]
    if unchecked:
        return advice(f"{listed(unchecked)} did not hold the rows against their digest")
    return ok("as its digest says")


def _runs(column: Column) -> list[Run]:
    return [one.run for one in column.runs]
