"""What the tasks of each workload did, by their stacks: icicles of each configuration, and of each change."""

from collections.abc import Iterator, Mapping
from functools import partial

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.frames import class_of
from harness.analysis.explain.profile import ProfiledTime, Profiles
from harness.model.profile import Stack
from harness.present import quantities
from harness.present.data_table import DataTable, Quantity
from harness.present.profile_table import bound_text, kind_name, shown_kinds
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Picture, Section, alternative
from harness.present.report.icicle import difference, icicle
from harness.words import percent

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "reading and writing files": ("reading from", "writing to", "asking", "splitting"),
    "shuffle": (
        *("waiting for shuffle", "reading shuffle", "writing shuffle", "shuffling", "spilling"),
    ),
    "waiting for a Python worker": ("waiting for a Python",),
    "decoding, compression, serialization": (
        *("decoding", "decompression", "compression", "serialization"),
        *("reading CSV", "reading Parquet"),
    ),
    "computing": ("computing", "running Python", "hash", "sort", "joining"),
}
_COLOURS = dict(
    zip(_FAMILIES, ("--heat-4", "--warm-3", "--warm-1", "--heat-2", "--cool-2"), strict=True)
)
REMARK = (
    "From the stacks of profile rounds, which are not compared otherwise. The width of a frame is the task "
    "seconds of a trial in it; below it are the frames that it called. A click on a frame shows it as wide "
    "as the picture, one on the first row shows all. In the pictures of changes, warm frames take more task "
    "seconds, cool ones less."
)


@partial(Section, 45, "profile", "What the tasks did")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has a profile."""
    found = evidence.profiles
    if not found:
        return None
    return Figure(
        alternative=alternative(
            "Icicles: the task seconds in each frame of the stacks of tasks.",
            (
                (f"{workload} in {name}", _largest(profile))
                for workload, profiles in found.items()
                for name, profile in profiles.items()
            ),
        ),
        pictures=tuple(_pictures(evidence.comparison, found)),
        numbers=DataTable.of(_numbers(found)),
        keys={
            family: chart.Series(f"var({colour})", "square", "■")
            for family, colour in _COLOURS.items()
        },
        remarks=(REMARK,),
        lines=tuple(
            f"{workload} in {name}: {bound_text(profile.bound)}."
            for workload, profiles in found.items()
            for name, profile in profiles.items()
            if profile.bound
        ),
    )


def _pictures(comparison: Comparison, found: Profiles) -> Iterator[Picture]:
    baseline = comparison.columns[0].name
    for workload, profiles in found.items():
        for name, profile in profiles.items():
            yield Picture(icicle(profile.weights, _colour), heading=f"{workload} in {name}")
        before = profiles.get(baseline)
        for name, after in profiles.items():
            if before and name != baseline:
                heading = f"{workload}: the difference from {baseline} to {name}"
                yield Picture(difference(before.weights, after.weights), heading=heading)


def _colour(stack: Stack) -> str:
    name = class_of(stack) or ""
    family = next((one for one, begin in _FAMILIES.items() if name.startswith(begin)), None)
    return f"var({_COLOURS[family]})" if family else "var(--faint)"


def _largest(profile: ProfiledTime) -> str:
    largest = list(profile.by_kind.items())[:3]
    return ", ".join(f"{kind_name(kind)} {percent(time.share)}" for kind, time in largest)


def _numbers(found: Profiles) -> Iterator[dict[str, str | Quantity]]:
    for workload, profiles in found.items():
        for kind in shown_kinds(list(profiles.values()))[0]:
            for name, profile in profiles.items():
                if time := profile.by_kind.get(kind):
                    yield {
                        "workload": workload,
                        "what tasks did": kind_name(kind),
                        "configuration": name,
                        "task seconds": Quantity.of(time.seconds, quantities.time_text),
                        "share": Quantity.of(time.share, percent),
                        "waiting": Quantity.of(time.waiting, percent),
                    }
