"""What was probed of the network that runs were measured on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.model import RecordedRun
from harness.probes.record import DIRECTORY, Probed, find_probed
from harness.record.store import SUFFIX


def probed_beside(runs: Iterable[RecordedRun]) -> list[Probed]:
    """The probes that lie beside the runs' files, none if there are none.

    Raises BadInput where such a file is not what a probe leaves behind.
    """
    places = dict.fromkeys(Path(recorded.source).parent / DIRECTORY for recorded in runs)
    return [
        probed
        for place in places
        if any(place.glob(f"[!.]*{SUFFIX}"))
        for probed in find_probed(str(place), place)
    ]
