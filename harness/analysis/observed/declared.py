"""What declared facts say of links and data, checked against observation.

A configuration that declares `layout=replicated:2`, and whose data is stored with Reed-Solomon, would praise
an upgrade for what it did not do. Only facts declare: a name is a name.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from harness.analysis.observed import environment
from harness.base.checked import positive
from harness.base.errors import BadInput
from harness.model.disk_rate import parse_disk_rate
from harness.model.layout import LayoutKind
from harness.model.link import MAX_BIT_S, is_same_rate, parse_rate, rate_text, with_bond
from harness.model.run import RecordedRun, Run


def declared_rate(run: Run) -> int | None:
    """Return the bit/s that the fact `link` declares; None if it is no rate, such as `unshaped`."""
    try:
        return parse_rate("link", run.facts.get("link", ""), MAX_BIT_S)
    except BadInput:
        return None


def declared_disk_rate(run: Run) -> int | None:
    """Return the bytes a second that the fact `disk` declares, such as `100MB/s`; None if it is no rate."""
    try:
        return parse_disk_rate("disk", run.facts.get("disk", ""))
    except BadInput:
        return None


def declared_mtu(run: Run) -> int | None:
    """Return the bytes that the fact `mtu` declares."""
    return positive(run.facts.get("mtu"))


def declares_layout(run: Run) -> bool:
    """Whether a fact declares the layout that the run observed, perhaps with less detail: `rs:6+3`."""
    declared = run.facts.get("layout")
    observed = environment.layouts(run)
    if not declared or not observed:
        return False
    return all(_is_layout(each, declared) for each in observed)


def declares_value(run: Run, value: str) -> bool:
    """Whether the value is a declared fact. A value without a letter may mean something else."""
    return any(map(str.isalpha, value)) and value in run.facts.values()


def contradictions(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return a line for each declared fact that any of the runs observed to be false."""
    lines = [_run_contradictions(recorded.run) for recorded in runs]
    return tuple(dict.fromkeys(chain.from_iterable(lines)))


def _run_contradictions(run: Run) -> Iterator[str]:
    rate = declared_rate(run)
    if rate:
        observed = []
        for node, links in environment.link_rates(run).items():
            with_bonds = with_bond(links)
            is_met = any(is_same_rate(bit_s, rate) for bit_s in with_bonds.values())
            texts = [f"{node} {name} at {rate_text(bit_s)}" for name, bit_s in with_bonds.items()]
            observed.append(_Observed(node, texts, is_met))
        yield from _contradiction(run, "link", observed)
    mtu = declared_mtu(run)
    if mtu:
        observed = []
        for node, mtus in environment.link_mtus(run).items():
            texts = [f"{node} {name} with MTU {value}" for name, value in mtus.items()]
            observed.append(_Observed(node, texts, mtu in mtus.values()))
        yield from _contradiction(run, "mtu", observed)
    layout = run.facts.get("layout", "")
    if layout.partition(":")[0] in set(LayoutKind) - {LayoutKind.UNKNOWN}:
        layouts = environment.layouts(run)
        observed = [_Observed("", [each], _is_layout(each, layout)) for each in layouts]
        yield from _contradiction(run, "layout", observed)


class _Observed(NamedTuple):
    """What was observed on a node, in words that begin with the node, and whether a fact declares it."""

    node: str
    texts: Sequence[str]
    is_declared: bool


def _contradiction(run: Run, fact: str, observed: Sequence[_Observed]) -> Iterator[str]:
    """Yield a line if a node has no link, or if a layout is not, as the fact declares."""
    unmet = [each for each in observed if not each.is_declared]
    if unmet:
        also = "also " if len(unmet) < len(observed) else ""
        texts = list(chain.from_iterable(each.texts for each in unmet))
        if len(observed) == 1:
            texts = [text.removeprefix(f"{unmet[0].node} ") for text in texts]
        yield f"the fact is {fact}={run.facts[fact]}, but the run {also}observed {', '.join(texts)}"


def _is_layout(observed: str, declared: str) -> bool:
    return observed == declared or observed.startswith(f"{declared}:")
