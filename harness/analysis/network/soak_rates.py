"""Transfers of a soak that failed or were slow, and the host or path that they have in common.

Each transfer has two ends, its sender and its receiver, and either may be the cause. Because pairs are drawn
anew in each round, the host at fault is the one whose partners are fine with others.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from harness.model.interface import HostLink, usual_max_goodput_bit_s
from harness.model.probe import ARROW
from harness.model.soak import SoakFlow

SLOW = 0.9
"""A transfer below this fraction of what it should reach is slow."""
MIN_TRANSFERS_TO_COMPARE = 4
"""In a round of three transfers, two may be those of one bad host."""
MIN_NETWORK = 3
"""If all transfers between two hosts are bad, their path is blamed; between this many hosts, the network."""
_BOTH, _SENDS, _RECEIVES = "", ", when it sends", ", when it receives"


class _End(NamedTuple):
    """A host as the sender, as the receiver, or as either end of its transfers."""

    host: str
    role: str = _BOTH


class BadTransfers(NamedTuple):
    """What failed or was slow, in the order of the rounds, and whom it is blamed on.

    `subject` is a host, a path, or empty for the whole network.
    """

    subject: str
    role: str
    flows: Sequence[SoakFlow]


def expected_rates(flows: Iterable[SoakFlow], links: Mapping[str, HostLink]) -> Mapping[int, float]:
    """Return the goodput in bit/s that the transfers of each round should reach.

    That is what is usual, and not more than what the second-best transfer of the round reaches, because
    several bad hosts may slow most of the others down. A round in which even that is slow, or which has too
    few transfers, is compared with what the links' rate allows; if that is unknown, with the second-best of
    all transfers.
    """
    flows = list(flows)
    by_round: dict[int, list[SoakFlow]] = defaultdict(list)
    for flow in flows:
        by_round[flow.round].append(flow)
    possible = usual_max_goodput_bit_s(links.values()) or _second_best(flows)
    best = {
        number: _second_best(own)
        for number, own in by_round.items()
        if len(own) >= MIN_TRANSFERS_TO_COMPARE
    }
    comparable = {number: rate for number, rate in best.items() if rate >= SLOW * possible}
    usual = median(comparable.values()) if comparable else possible
    return {number: min(usual, comparable.get(number, possible)) for number in by_round}


def _second_best(flows: Iterable[SoakFlow]) -> float:
    """Return the second-best goodput; the best of few transfers, of which most may be slow."""
    rates = sorted((flow.goodput_bit_s or 0.0 for flow in flows), reverse=True)
    return rates[1] if len(rates) >= MIN_TRANSFERS_TO_COMPARE else max(rates, default=0.0)


def path_of(flow: SoakFlow) -> str:
    """Return the path of a transfer: `node1 -> node2`."""
    return f"{flow.sender}{ARROW}{flow.receiver}"


def fraction_of(flow: SoakFlow, expected_bit_s: float) -> float:
    """Return the goodput as a fraction of what is expected; 0 if the transfer failed."""
    if flow.goodput_bit_s is None:
        return 0.0
    return flow.goodput_bit_s / expected_bit_s if expected_bit_s else 1.0


def blamed(flows: Iterable[SoakFlow], expected: Mapping[int, float]) -> Iterator[BadTransfers]:
    """Yield all bad transfers: those of hosts, of paths, and of rounds in which all transfers were bad."""
    bad: list[SoakFlow] = []
    good: list[SoakFlow] = []
    for flow in flows:
        is_bad = fraction_of(flow, expected[flow.round]) < SLOW
        (bad if is_bad else good).append(flow)
    bad.sort(key=lambda flow: (flow.round, flow.sender))
    # A round tells good hosts from bad ones if it has good transfers and bad ones.
    rounds_with_good = {flow.round for flow in good}
    telling = rounds_with_good & {flow.round for flow in bad}
    ends = _ends_at_fault(
        [flow for flow in bad if flow.round in telling],
        [flow for flow in good if flow.round in telling],
    )
    ends += _never_good(bad, good, telling, ends)

    by_subject: dict[str, list[SoakFlow]] = defaultdict(list)
    count_in_round = Counter(flow.round for flow in bad)
    for flow in bad:
        own = next((end.host for end in ends if end in _ends(flow)), None)
        is_all = flow.round not in rounds_with_good and count_in_round[flow.round] >= MIN_NETWORK
        by_subject[own or ("" if is_all else path_of(flow))].append(flow)
    for subject, own_flows in by_subject.items():
        roles = {end.role for end in ends if end.host == subject}
        yield BadTransfers(subject, roles.pop() if len(roles) == 1 else _BOTH, own_flows)


def _ends(flow: SoakFlow) -> tuple[_End, ...]:
    return (
        _End(flow.sender),
        _End(flow.receiver),
        _End(flow.sender, _SENDS),
        _End(flow.receiver, _RECEIVES),
    )


def _ends_at_fault(bad: Sequence[SoakFlow], good: Iterable[SoakFlow]) -> list[_End]:
    """Return the ends that explain the bad transfers, those with the largest share of bad ones first.

    An end is at fault if its transfers with two partners or more are bad, and one of these partners has a
    larger share of good ones.
    """
    good_of = Counter(end for flow in good for end in _ends(flow))
    found: list[_End] = []
    left = list(bad)
    while left:
        bad_of: dict[_End, list[SoakFlow]] = defaultdict(list)
        for flow in left:
            for end in _ends(flow):
                bad_of[end].append(flow)
        counts = {end: (len(own), len(own) + good_of[end]) for end, own in bad_of.items()}
        share = {end: bad / all_ for end, (bad, all_) in counts.items()}
        partners = {end: {_partner(end, flow) for flow in own} for end, own in bad_of.items()}
        suspects = [
            end
            for end, others in partners.items()
            if len(others) > 1 and min(share[other] for other in others) < share[end]
        ]
        if not suspects:
            break
        # The share of few transfers is by chance: one more that is good moves it far.
        worst = max(sorted(suspects), key=lambda end: counts[end][0] / (counts[end][1] + 1))
        found.append(worst)
        left = [flow for flow in left if worst not in _ends(flow)]
    return _needed(found, bad)


def _never_good(
    bad: Sequence[SoakFlow],
    good: Iterable[SoakFlow],
    telling: Collection[int],
    known: Collection[_End],
) -> list[_End]:
    """Return hosts without any good transfer that are bad with two hosts or more that have some.

    One of these transfers must be of a telling round: in the others, it may have been the network.
    """
    sound = {host for flow in good for host in (flow.sender, flow.receiver)}
    partners: dict[_End, set[str]] = defaultdict(set)
    doubted = set()
    for flow in bad:
        hosts = (flow.sender, flow.receiver)
        for host, other in (hosts, hosts[::-1]):
            if host not in sound and other in sound:
                partners[_End(host)].add(other)
                doubted |= {_End(host)} if flow.round in telling else set()
    return [
        end
        for end, others in partners.items()
        if len(others) > 1 and end in doubted and end not in known
    ]


def _partner(end: _End, flow: SoakFlow) -> _End:
    """Return the other end of a transfer, in the role that is opposite."""
    host = flow.receiver if end.host == flow.sender else flow.sender
    return _End(host, {_BOTH: _BOTH, _SENDS: _RECEIVES, _RECEIVES: _SENDS}[end.role])


def _needed(found: Sequence[_End], bad: Sequence[SoakFlow]) -> list[_End]:
    """Return the ends without those whose bad transfers the others explain."""
    needed = list(found)
    for end in found:
        others = set(needed) - {end}
        if all(others.intersection(_ends(flow)) for flow in bad if end in _ends(flow)):
            needed.remove(end)
    return needed
