"""The facts of nodes that differ between two configurations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from harness.analysis.observed.declared import declares_value
from harness.analysis.observed.machines import KERNEL, fact_keys, fact_name
from harness.model.run import Run
from harness.node.machine import facts_by_node
from harness.words import join_names

_Values = Mapping[str, AbstractSet[str]]
"""The values of one fact in all runs of a side, by node."""


def know_nodes(runs: Iterable[Run]) -> bool:
    """Whether every run recorded the facts of all its nodes; older ones know the driver's alone."""
    return all(facts_by_node(run.environment) for run in runs)


def different_machines(
    before: Sequence[Run], after: Sequence[Run]
) -> Iterator[tuple[str, str, str]]:
    """Yield each fact with its nodes (`kernel of n2`), and its values before and after.

    A node is compared with itself. Nodes of one side alone are compared with the nodes of the other side
    alone, or with all of its nodes if there are none. What both sides declare is left out.
    """
    if not know_nodes([*before, *after]):
        return
    sides = [[facts_by_node(run.environment) for run in side] for side in (before, after)]
    for key in fact_keys(facts for side in sides for nodes in side for facts in nodes.values()):
        first, then = (_values_by_node(side, key) for side in sides)
        if not (first and then):
            if fact_name(key) == KERNEL:
                yield fact_name(key), _text(first), _text(then)
            continue
        changed: dict[tuple[str, str], list[str]] = {}
        for node in sorted(first.keys() & then.keys()):
            if first[node] != then[node]:
                texts = _text({node: first[node]}), _text({node: then[node]})
                changed.setdefault(texts, []).append(node)
        if others := _nodes_of_one_side(first, then):
            gone, new = others
            changed.setdefault((_text(gone or first), _text(new or then)), []).extend(new or gone)
        for (old, now), nodes in changed.items():
            declared = [declares_value(run, old) for run in before]
            declared += [declares_value(run, now) for run in after]
            if not all(declared):
                yield f"{fact_name(key)}{_of(nodes, first, then)}", old, now


def _values_by_node(side: Sequence[Mapping[str, Mapping[str, str]]], key: str) -> _Values:
    found: dict[str, set[str]] = {}
    for nodes in side:
        for node, facts in nodes.items():
            if key in facts:
                found.setdefault(node, set()).add(facts[key])
    return found


def _nodes_of_one_side(first: _Values, then: _Values) -> tuple[_Values, _Values] | None:
    """Return the nodes of one side alone, if their values differ from the other side's."""
    gone = {node: first[node] for node in sorted(first.keys() - then.keys())}
    new = {node: then[node] for node in sorted(then.keys() - first.keys())}
    if gone and new:
        differ = _union(gone) != _union(new)
    else:
        differ = not (_union(gone) <= _union(then) and _union(new) <= _union(first))
    return (gone, new) if differ else None


def _union(nodes: _Values) -> set[str]:
    return set().union(*nodes.values())


def _text(nodes: _Values) -> str:
    return ", ".join(sorted(_union(nodes))) or "unknown"


def _of(nodes: Sequence[str], first: _Values, then: _Values) -> str:
    """Return ` of n1, n2` or ` of all 4 nodes`; nothing if neither side has several nodes."""
    if len(first) <= 1 and len(then) <= 1:
        return ""
    if len(nodes) == len(first) == len(then):
        return f" of all {len(nodes)} nodes"
    return f" of {join_names(nodes)}"
