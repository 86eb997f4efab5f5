"""What declared facts say of links and data, checked against observation.

A configuration that declares `layout=replicated:2`, and whose data is stored with Reed-Solomon, would praise
an upgrade for what it did not do. Only facts declare: a name is a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.analysis.observed import environment
from harness.base.checked import positive
from harness.base.errors import BadInput
from harness.base.items import union
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
    return tuple(union(_run_contradictions(recorded.run) for recorded in runs))


def _run_contradictions(run: Run) -> Iterator[str]:
    rate = declared_rate(run)
    if rate:
        yield from _contradiction(run, "link", _rates(run, rate))
    mtu = declared_mtu(run)
    if mtu:
        yield from _contradiction(run, "mtu", _mtus(run, mtu))
    layout = run.facts.get("layout", "")
    if layout.partition(":")[0] in set(LayoutKind) - {LayoutKind.UNKNOWN}:
        yield from _contradiction(run, "layout", _layouts(run, layout))


@dataclass
class _Observed:
    """What was observed on a node, in words, and whether any of it is as a fact declares."""

    node: str
    texts: list[str] = field(default_factory=list)
    is_declared: bool = False

    def add(self, text: str, *, is_declared: bool) -> None:
        """Add the words for one thing, such as a link."""
        self.texts.append(f"{self.node} {text}".strip())
        self.is_declared |= is_declared


def _rates(run: Run, declared: int) -> Iterator[_Observed]:
    for node, links in environment.link_rates(run).items():
        observed = _Observed(node)
        for name, bit_s in with_bond(links).items():
            text = f"{name} at {rate_text(bit_s)}"
            observed.add(text, is_declared=is_same_rate(bit_s, declared))
        yield observed


def _mtus(run: Run, declared: int) -> Iterator[_Observed]:
    for node, mtus in environment.link_mtus(run).items():
        observed = _Observed(node)
        for name, mtu in mtus.items():
            observed.add(f"{name} with MTU {mtu}", is_declared=mtu == declared)
        yield observed


def _layouts(run: Run, declared: str) -> Iterator[_Observed]:
    for layout in environment.layouts(run):
        yield _Observed("", [layout], _is_layout(layout, declared))


def _contradiction(run: Run, fact: str, found: Iterable[_Observed]) -> Iterator[str]:
    """Yield a line if a node has no link, or if a layout is not, as the fact declares."""
    observed = list(found)
    unmet = [each for each in observed if not each.is_declared]
    if not unmet:
        return
    also = "also " if len(unmet) < len(observed) else ""
    texts: list[str] = []
    for each in unmet:
        texts += each.texts
    if len(observed) == 1:
        texts = [text.removeprefix(f"{unmet[0].node} ") for text in texts]
    yield f"the fact is {fact}={run.facts[fact]}, but the run {also}observed {', '.join(texts)}"


def _is_layout(observed: str, declared: str) -> bool:
    return observed == declared or observed.startswith(f"{declared}:")
