"""What declared facts say of links and data, checked against observation.

A configuration that declares `layout=replicated:2`, and whose data is stored with Reed-Solomon, would praise
an upgrade for what it did not do. Only facts declare: a name is a name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

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
    declared, observed = run.facts.get("layout"), environment.layouts(run)
    return bool(declared and observed) and all(_is_layout(each, str(declared)) for each in observed)


def declares_value(run: Run, value: str) -> bool:
    """Whether the value is a declared fact. One without a letter may as well mean something else."""
    return any(map(str.isalpha, value)) and value in run.facts.values()


def contradictions(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return a line for each declared fact that any of the runs observed to be false."""
    return tuple(dict.fromkeys(line for recorded in runs for line in _of_run(recorded.run)))


def _of_run(run: Run) -> Iterator[str]:
    if rate := declared_rate(run):
        rates = {node: with_bond(links) for node, links in environment.link_rates(run).items()}
        found = _of_links(
            rates, lambda bit_s: is_same_rate(bit_s, rate), lambda bit_s: f"at {rate_text(bit_s)}"
        )
        yield from _contradiction(run, "link", found)
    if mtu := declared_mtu(run):
        mtus = environment.link_mtus(run)
        yield from _contradiction(run, "mtu", _of_links(mtus, mtu.__eq__, "with MTU {}".format))
    layout = run.facts.get("layout", "")
    if layout.partition(":")[0] in set(LayoutKind) - {LayoutKind.UNKNOWN}:
        layouts = [{each: _is_layout(each, layout)} for each in environment.layouts(run)]
        yield from _contradiction(run, "layout", layouts)


def _of_links(
    nodes: Mapping[str, Mapping[str, int]],
    is_declared: Callable[[int], bool],
    text: Callable[[int], str],
) -> list[dict[str, bool]]:
    """Return for each node whether each of its links is as declared, by what was observed."""
    return [
        {
            f"{node} {name} {text(value)}" if len(nodes) > 1 else f"{name} {text(value)}": (
                is_declared(value)
            )
            for name, value in links.items()
        }
        for node, links in nodes.items()
    ]


def _contradiction(run: Run, fact: str, observed: Sequence[Mapping[str, bool]]) -> Iterator[str]:
    """Yield a line if a node has no link, or if a layout is not, as the fact declares."""
    unmet = [values for values in observed if not any(values.values())]
    if unmet:
        also = "also " if len(unmet) < len(observed) else ""
        texts = ", ".join(text for values in unmet for text in values)
        yield f"the fact is {fact}={run.facts[fact]}, but the run {also}observed {texts}"


def _is_layout(observed: str, declared: str) -> bool:
    return observed == declared or observed.startswith(f"{declared}:")
