"""Which paths do not carry the largest packets of their senders."""

from collections.abc import Iterator

from harness.analysis.network.mesh import pair_matrix
from harness.model.finding import Finding
from harness.model.network_metrics import PATH_MTU, VANISHED_PACKET
from harness.model.probe import ARROW, RecordedProbes


def path_mtu_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a finding for each such path, or a remark that there is none, if all were measured.

    Larger packets either vanish without an error (a path MTU black hole) or are refused with one.
    """
    links = probed.links()
    paths, vanished = (
        pair_matrix(probed.measurements, metric) for metric in (PATH_MTU, VANISHED_PACKET)
    )
    is_whole = bool(paths.values) and not paths.errors
    for pair in sorted(paths.values, key=lambda pair: tuple(map(paths.hosts.index, pair))):
        path_mtu = paths.values[pair]
        sender_mtu, receiver_mtu = (
            links[host].mtu_bytes if host in links else None for host in pair
        )
        ends = (
            f"{pair[0]}'s MTU is {sender_mtu or 'unknown'}, "
            f"{pair[1]}'s MTU is {receiver_mtu or 'unknown'}"
        )
        if pair in vanished.values:
            text = f"a path MTU black hole: packets larger than {path_mtu:.0f} bytes vanish without an error"
        elif sender_mtu is not None and path_mtu < sender_mtu:
            text = f"the path carries at most {path_mtu:.0f} bytes and refuses larger packets with an error"
        else:
            is_whole = is_whole and sender_mtu is not None
            continue
        is_whole = False
        yield Finding(ARROW.join(pair), f"{text} ({ends})")
    if is_whole:
        yield Finding("", "every path has the MTU of its sender's link", is_fault=False)
