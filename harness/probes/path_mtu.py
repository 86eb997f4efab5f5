"""The MTU probe: the largest packet that each path carries."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from harness.analysis.network.measured import PairMatrix, pair_matrix
from harness.hosts.remote_process import ask
from harness.hosts.transports.host import Host, HostError
from harness.model.finding import Finding, Subject, note
from harness.model.link import MAX_MTU, MIN_MTU, TYPICAL_MTU
from harness.model.network_metrics import PATH_MTU, VANISHED_PACKET, packet_case
from harness.model.probe import Measurement, Metric, Pair, RecordedProbes
from harness.node.iproute2 import RememberedMtu, read_remembered_mtu, route_to
from harness.probes.plan import Links, Pairing, Pairs, ProbeStep, round_robin
from harness.probes.tools import ping
from harness.probes.tools.ping import Echo, PingReply
from harness.probes.traffic import Flow, flows_back, flows_of, pair_names

MTU_PROGRAMS = ("ip", "ping")
VLAN_TAG_BYTES = 4  # IEEE 802.1Q
PATH_S = 1.0
AWAITED_TRIES = 10
"""A card may renegotiate its link for seconds when its MTU is set, and a lost ping takes a second."""

SetMtu = Callable[[int], AbstractContextManager[object]]
"""Returns a context in which the interfaces of all hosts have this MTU, in bytes. It may raise HostError."""

Search = Generator[int, PingReply, "PathMtu | None"]
"""Yields packet sizes, is sent the fate of each packet, and returns the result of the search."""


@dataclass(frozen=True)
class PathMtu:
    """The sizes of the largest packet that arrives and of the smallest that vanished, None if none did."""

    mtu_bytes: int
    vanished_bytes: int | None = None


def search_path_mtu(own_mtu: int, likely: Iterable[int] = ()) -> Search:
    """Search for the largest size that arrives, up to the sender's own MTU; None if no packet arrives.

    The likely sizes are tried first, so that most paths take no more than three packets.
    """
    largest = max(own_mtu, MIN_MTU)
    # The size above a likely one shows whether that is the largest.
    guesses = [largest]
    for size in sorted(likely, reverse=True):
        guesses += [size, size + 1]
    arrived = 0
    failed = largest + 1
    vanished: int | None = None
    while failed - arrived > 1:
        inside = [size for size in guesses if max(arrived, MIN_MTU - 1) < size < failed]
        inside.append((arrived + failed) // 2 if arrived else MIN_MTU)
        size = inside[0]
        answer = yield size
        if answer.echo is Echo.ARRIVED:
            arrived = size
            continue
        if size == MIN_MTU:
            return None
        failed = size
        if answer.echo is Echo.LOST:
            vanished = size
        elif answer.mtu_bytes is not None:
            guesses = [answer.mtu_bytes, answer.mtu_bytes + 1, *guesses]
    return PathMtu(arrived, vanished)


def path_mtu_steps(
    hosts: Sequence[Host], links: Links, pairing: Pairing = round_robin
) -> list[ProbeStep]:
    """Find the path MTU of every pair that `pairing` yields, in both directions."""
    steps = []
    for pairs in pairing(hosts):
        measure = partial(_measure_paths, _both_ways(pairs), links)
        steps.append(ProbeStep(f"mtu: {pair_names(pairs)}", PATH_S, measure))
    return steps


def _both_ways(pairs: Pairs[Host]) -> list[Flow]:
    flows = flows_of(pairs)
    return flows + flows_back(flows)


def largest_frame_steps(
    hosts: Sequence[Host], links: Links, mtu_bytes: int, set_mtu: SetMtu
) -> list[ProbeStep]:
    """Find the largest packet of every path while the interfaces have a larger MTU than usual."""
    larger = {host: replace(link, mtu_bytes=mtu_bytes) for host, link in links.items()}
    case = packet_case(mtu_bytes, mtu_is_set=True)

    flows: list[Flow] = []
    for pairs in round_robin(hosts):
        flows += _both_ways(pairs)
    search = partial(_measure_paths, flows, larger, case)
    measure = partial(with_mtu, set_mtu, mtu_bytes, flows, PATH_MTU, case, search)
    return [ProbeStep(f"mtu: the largest packet with {case}", PATH_S, measure)]


def with_mtu(
    set_mtu: SetMtu,
    mtu_bytes: int,
    flows: Sequence[Flow],
    metric: Metric,
    case: str,
    measure: Callable[[], Iterable[Measurement]],
) -> list[Measurement]:
    """Return what is measured while the interfaces have an MTU, or a failure of each flow.

    It is a list, because nothing must stay set if the reader of the measurements is interrupted.
    """
    try:
        with set_mtu(mtu_bytes):
            _await_paths(flows)
            return list(measure())
    except HostError as error:
        return [metric.failed(flow.pair, error, case) for flow in flows]


def _await_paths(flows: Sequence[Flow]) -> None:
    """Wait until small packets arrive along all flows; give up after some tries."""
    for _ in range(AWAITED_TRIES):
        answers = send_pings(dict.fromkeys(flows, MIN_MTU)).values()
        if all(answer == PingReply(Echo.ARRIVED) for answer in answers):
            return


def _measure_paths(flows: Sequence[Flow], links: Links, case: str = "") -> Iterator[Measurement]:
    """Search the largest packets of all flows at the same time."""
    searches = {}
    sizes = {}
    for flow in flows:
        searches[flow] = _search(flow, links)
        sizes[flow] = next(searches[flow])
    memories: dict[Flow, RememberedMtu] = {}
    # No router has answered these yet. The sender's kernel would remember its answer.
    untouched = set(flows)
    while sizes:
        answers = send_pings(sizes, past_memory=memories)
        new = untouched - memories.keys()
        found = _remembered([flow for flow in new if _is_below(flow, answers[flow], links)])
        memories.update(found)
        sizes = {}
        for flow, answer in answers.items():
            if flow in found:
                searches[flow] = _search(flow, links)
                sizes[flow] = next(searches[flow])
            elif isinstance(answer, HostError):
                error = _memory_text(flow, memories[flow]) if flow in memories else answer
                yield PATH_MTU.failed(flow.pair, error, case)
            else:
                try:
                    sizes[flow] = searches[flow].send(answer)
                except StopIteration as end:
                    yield from _path_measurements(flow, end.value, case)
        untouched = {flow for flow in untouched & sizes.keys() if _is_untouched(answers[flow])}


def _is_below(flow: Flow, answer: PingReply | HostError, links: Links) -> bool:
    """Whether the sender itself refused a packet by an MTU that is smaller than both interfaces' MTUs."""
    if isinstance(answer, HostError) or not answer.is_from_sender or not answer.mtu_bytes:
        return False
    sender = mtu_of(flow.sender.name, links)
    receiver = mtu_of(flow.receiver.name, links)
    if not sender or not receiver:
        return False
    return answer.mtu_bytes < min(sender, receiver)


def _is_untouched(answer: PingReply | HostError) -> bool:
    if isinstance(answer, HostError):
        return False
    return answer.echo is not Echo.REFUSED or answer.is_from_sender


def _remembered(flows: Sequence[Flow]) -> dict[Flow, RememberedMtu]:
    """Return the path MTUs that senders' kernels remember; unknown paths are left out."""
    if not flows:
        return {}
    routes = {flow: (flow.sender, route_to(flow.receiver.address)) for flow in flows}
    answers = ask(routes, lambda _, done: read_remembered_mtu(done.output))
    return {flow: each for flow, each in answers.items() if isinstance(each, RememberedMtu)}


def _memory_text(flow: Flow, memory: RememberedMtu) -> str:
    version = "-6 " if ":" in flow.receiver.address else ""
    return (
        f"{flow}: the path is unknown, because {flow.sender} remembers a largest packet of "
        f"{memory.mtu_bytes} bytes for {memory.seconds} s more: run ip {version}route flush cache there, and "
        "probe again"
    )


def _path_measurements(flow: Flow, path: PathMtu | None, case: str) -> Iterator[Measurement]:
    if path is None:
        yield PATH_MTU.failed(flow.pair, f"{flow}: pings are not answered", case)
        return
    yield PATH_MTU.of(flow.pair, path.mtu_bytes, case)
    if path.vanished_bytes is not None:
        yield VANISHED_PACKET.of(flow.pair, path.vanished_bytes, case)


def _search(flow: Flow, links: Links) -> Search:
    """Search with the typical MTU and the receiver's as likely, each also with room for a VLAN tag."""
    likely = [TYPICAL_MTU, TYPICAL_MTU + VLAN_TAG_BYTES]
    peer = mtu_of(flow.receiver.name, links)
    if peer:
        likely += [peer, peer + VLAN_TAG_BYTES]
    return search_path_mtu(mtu_of(flow.sender.name, links) or MAX_MTU, likely)


def mtu_of(host: str, links: Links) -> int | None:
    """Return the MTU of a host's link; None if it is unknown."""
    link = links.get(host)
    return link.mtu_bytes if link else None


def send_pings(
    sizes: Mapping[Flow, int], past_memory: Collection[Flow] = ()
) -> dict[Flow, PingReply | HostError]:
    """Send a packet of the given size along each flow, and return what became of it.

    Along the flows of `past_memory` it is sent whatever the sender's kernel remembers of the path.
    """
    commands = {}
    for flow, size in sizes.items():
        address = flow.receiver.address
        command = ping.command(address, size, past_memory=flow in past_memory)
        commands[flow] = (flow.sender, command)
    return ask(commands, lambda _, done: ping.read_answer(done.output, done.errors))


def path_mtu_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield each path that does not carry its sender's largest packets, or a note that every path does.

    Larger packets either vanish without an error (a path MTU black hole) or are refused with one.
    """
    links = probed.links()
    paths = pair_matrix(probed.measurements, PATH_MTU)
    vanished = pair_matrix(probed.measurements, VANISHED_PACKET).values
    is_whole = bool(paths.values) and not paths.errors
    for pair in _in_order(paths):
        path_mtu = paths.values[pair]
        sender_mtu = mtu_of(pair[0], links)
        if pair in vanished:
            text = f"a path MTU black hole: packets larger than {path_mtu:.0f} bytes vanish without an error"
        elif sender_mtu is not None and path_mtu < sender_mtu:
            text = f"the path carries at most {path_mtu:.0f} bytes and refuses larger packets with an error"
        else:
            is_whole = is_whole and sender_mtu is not None
            continue
        is_whole = False
        ends = ", ".join(f"{host}'s MTU is {mtu_of(host, links) or 'unknown'}" for host in pair)
        yield Finding(Subject(pair), f"{text} ({ends})")
    if is_whole:
        yield note("every path has the MTU of its sender's link")


def _in_order(paths: PairMatrix) -> list[Pair]:
    place = {host: number for number, host in enumerate(paths.hosts)}
    return sorted(paths.values, key=lambda pair: (place[pair[0]], place[pair[1]]))
