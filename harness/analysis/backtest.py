"""Predictions of what is known already: each configuration of a family from each slower one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.environment import layouts
from harness.analysis.prediction import Predictor
from harness.analysis.score import Score, scored_times
from harness.analysis.target import LinkOf, link_of, target_of
from harness.model.errors import BadInput
from harness.model.link import rate_of_goodput


@dataclass(frozen=True)
class Backcast:
    """A configuration that was predicted from a slower one, and perhaps from still slower ones, too.

    `ratio` is that of the goodputs of the links, faster / slower.
    """

    score: Score
    throttled: tuple[str, ...]
    ratio: float


def backtest(columns: Sequence[ConfigurationRuns]) -> list[Backcast]:
    """Predict each configuration from each slower one with the same layout, alone and with all slower ones.

    Raises BadInput if no two configurations have the same layout and links of different rates.
    """
    links = {column.name: link_of(column) for column in columns}
    found = [
        backcast
        for layout in dict.fromkeys(map(_layout, columns))
        for backcast in _of_family([c for c in columns if _layout(c) == layout], links)
    ]
    if not found:
        raise BadInput("backtest needs two configurations with the same layout and different links")
    return found


def by_what_was_learnt(backcasts: Sequence[Backcast]) -> dict[str, list[Backcast]]:
    """Return those from a single configuration, and those that learnt from still slower ones, by name."""
    groups = {
        "from the slower link alone": [each for each in backcasts if not each.throttled],
        "learnt from still slower ones, too": [each for each in backcasts if each.throttled],
    }
    return {name: group for name, group in groups.items() if group}


def _of_family(
    columns: Sequence[ConfigurationRuns], links: dict[str, LinkOf]
) -> Iterator[Backcast]:
    order = sorted(columns, key=lambda column: links[column.name].goodput_bit_s)
    for number, target in enumerate(order):
        link = links[target.name]
        rate = link.rate_bit_s or round(rate_of_goodput(link.goodput_bit_s, link.mtu))
        for index, baseline in enumerate(order[:number]):
            wanted = target_of(baseline, rate, link.mtu)
            slower = [(), order[:index]] if index else [()]
            for throttled in slower:
                prediction = Predictor.of(baseline, throttled).predict(wanted)
                times = scored_times(prediction, target)
                yield Backcast(
                    Score(prediction, target, times, (), (), ()),
                    tuple(column.name for column in throttled),
                    wanted.goodput_bit_s / prediction.baseline_goodput_bit_s,
                )


def _layout(column: ConfigurationRuns) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for r in column.runs for each in layouts(r.run)))
