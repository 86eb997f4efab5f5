"""The part of each workload's time in which it waits for the network, or for disks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from harness.analysis.explain.blocked import Bound, Gain
from harness.analysis.explain.profile import MIN_SHARE, ProfiledTime, profiled_time
from harness.analysis.explain.timeline import (
    busy_shares,
    full_shares,
    trial_disks,
    trial_links,
    uses_by_workload,
)
from harness.analysis.observed.configuration import ConfigurationRuns, probe_measurements
from harness.analysis.predict.saturation import ANY_EFFECT, EFFECT, WHOLE
from harness.base.words import percent

NORMAL_95 = NormalDist().inv_cdf(0.975)
SHARE_SD = 0.03
"""How much the full share of a workload is taken to differ between runs where none was repeated."""
BY_PROFILE = "how long tasks waited for the network, by profiles"
BY_FULL_LINKS = (
    f"how long a link was full; on earlier clusters, {percent(EFFECT.mean)} of that was waited for"
)
BY_DISK_WAITS = "how long tasks waited for the disks of their own node, by profiles"
BY_SERVER_WAITS = (
    "how long tasks waited for disks, and for servers of the file system, by profiles; how much "
    "of the latter was for a disk is unknown, so the interval goes from nothing to all of it"
)
BY_BUSY_DISKS = (
    "how long a disk was busy; how much of that was waited for is unknown, so the interval goes from "
    "nothing to all of it"
)


@dataclass(frozen=True)
class WaitTime:
    """The part of a workload's time in which tasks wait for the network or disks, or in which one is busy.

    `effect` is the part of that time that depends on the rate of links or disks. `basis` says how the share
    is known.
    """

    share: NormalDist
    effect: NormalDist
    basis: str


CONTROL = WaitTime(NormalDist(0, 0), WHOLE, "control: neither links nor disks affect it")


def network_times(column: ConfigurationRuns) -> dict[str, WaitTime]:
    """Return the network time of each workload: by its profile if it has one, else by full links.

    A workload is missing if it has no profile, and nothing is known of the bytes on the nodes' links or of
    their goodput.
    """
    links = uses_by_workload(trial_links(column, probe_measurements(column)))
    found: dict[str, WaitTime] = {}
    for name in column.workloads:
        profile = profiled_time(column.runs, name)
        shares = full_shares(links.get(name, ()))
        if profile and profile.bound:
            found[name] = _wait_by_profile(profile.bound.network, BY_PROFILE)
        elif shares:
            found[name] = WaitTime(_mean(shares), EFFECT, BY_FULL_LINKS)
    return found


def disk_times(column: ConfigurationRuns) -> dict[str, WaitTime]:
    """Return the disk time of each workload: by its profile if it has one, else by how busy disks were.

    A workload is missing if it has no profile, and nothing is known of how busy disks were.
    """
    disks = uses_by_workload(trial_disks(column))
    found: dict[str, WaitTime] = {}
    for name in column.workloads:
        profile = profiled_time(column.runs, name)
        busy = busy_shares(disks.get(name, ()))
        if profile and profile.bound:
            found[name] = _wait_for_disks(profile, profile.bound, fmean(busy) if busy else 1.0)
        elif busy:
            found[name] = WaitTime(_mean(busy), ANY_EFFECT, BY_BUSY_DISKS)
    return found


def _wait_for_disks(profile: ProfiledTime, bound: Bound, busy: float) -> WaitTime:
    """Return the wait for a node's own disks, and an unknown part of the wait for servers.

    That part is at most `busy`, the share of the time in which a disk was busy.
    """
    own = _wait_by_profile(bound.disk, BY_DISK_WAITS)
    servers = min(busy, bound.network.share * profile.server_part)
    if servers < MIN_SHARE:
        return own
    of_servers = NormalDist(servers * ANY_EFFECT.mean, servers * ANY_EFFECT.stdev)
    return WaitTime(own.share + of_servers, WHOLE, BY_SERVER_WAITS)


def _wait_by_profile(gain: Gain, basis: str) -> WaitTime:
    """Return the wait that a profile shows: all of it depends on the rate of links or disks."""
    sd = gain.interval.max_distance(gain.share) / NORMAL_95
    return WaitTime(NormalDist(gain.share, sd), WHOLE, basis)


def _mean(shares: Sequence[float]) -> NormalDist:
    sd = max(stdev(shares), SHARE_SD / 2) if len(shares) > 1 else SHARE_SD
    return NormalDist(fmean(shares), sd / math.sqrt(len(shares)))
