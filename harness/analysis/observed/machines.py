"""What a run recorded of its nodes' machines: values with their nodes, and nodes unlike their peers."""

from collections.abc import Iterable, Iterator, Mapping

from harness.base.items import union
from harness.base.words import join_names, names_by_text, visible
from harness.model.run import Run
from harness.node.machine import FACT_NAMES, NAMES_OF_DISK_FACTS, MachineFacts, facts_by_node


def values_by_name(nodes: Mapping[str, MachineFacts], *, with_nodes: bool = True) -> dict[str, str]:
    """Return the value of each fact, by its name for people; with their nodes if values differ.

    For example `6.1 (n1, n2), 6.5 (n3)`; without nodes `6.1 and 6.5`.
    """
    found = {}
    joint = ", " if with_nodes else " and "
    for key in fact_keys(nodes.values()):
        values = hosts_by_value(nodes, key)
        texts = sorted(values)
        if with_nodes and len(values) > 1:
            texts = [f"{value} ({join_names(hosts)})" for value, hosts in values.items()]
        found[fact_name(key)] = joint.join(texts)
    return found


def disk_lines(nodes: Mapping[str, MachineFacts]) -> Iterator[str]:
    """Yield a line for each fact of disks and directories: `disks: SSD 980 (n1), HDD 2 (n2)`."""
    for name, value in values_by_name(nodes).items():
        if name in NAMES_OF_DISK_FACTS:
            yield visible(f"{name}: {value}")


def hosts_by_value(nodes: Mapping[str, MachineFacts], key: str) -> dict[str, list[str]]:
    """Return the nodes with each value of a fact, the commonest value first."""
    found = names_by_text({host: facts[key] for host, facts in nodes.items() if key in facts})
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def fact_keys(nodes: Iterable[MachineFacts]) -> list[str]:
    """Return the keys that any node has: first the keys of FACT_NAMES, in its order, then the others."""
    recorded = union(nodes)
    return [key for key in union([FACT_NAMES, recorded]) if key in recorded]


def fact_name(key: str) -> str:
    """Return a fact's name for people; its key if it is not known here."""
    return FACT_NAMES.get(key, key)


def unlike_peers(run: Run) -> Iterator[str]:
    """Yield what sets nodes with executors, or hosts of a program, apart; see `unlike`."""
    nodes = facts_by_node(run.environment)
    executors = run.environment.get("executors") or nodes
    yield from unlike({host: facts for host, facts in nodes.items() if host in executors})


def unlike(peers: Mapping[str, MachineFacts]) -> Iterator[str]:
    """Yield a line for each value that sets nodes apart: `n3: governor powersave, its peers performance`.

    Without a value that most of them have, all values are listed.
    """
    for key in fact_keys(peers.values()):
        (usual, alike), *others = hosts_by_value(peers, key).items()
        if others and 2 * len(alike) <= len(peers):
            yield f"the nodes differ: {fact_name(key)} {values_by_name(peers)[fact_name(key)]}"
            continue
        for value, hosts in others:
            whose = "its" if len(hosts) == 1 else "their"
            yield f"{join_names(hosts)}: {fact_name(key)} {value}, {whose} peers {usual}"
