"""Where the input of configurations came from, in a sentence: cold, warm or mixed."""

from collections.abc import Iterator, Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.base.items import grouped
from harness.base.words import join_names, names_by_text
from harness.model.cache import CacheState, cache_text, disk_share, disk_shares
from harness.model.run import Trial


def cache_sentences(columns: Sequence[ConfigurationRuns]) -> Iterator[str]:
    """Yield `Input was cold (98 % from disks).`, by column if they differ; nothing if that is unknown."""
    known = {}
    for column in columns:
        trials = list(measured_trials(column.runs))
        share = disk_share(trials)
        if share is not None:
            known[column.name] = cache_text(share) + _exceptions(trials, CacheState.of(share))
    texts = names_by_text(known)
    clauses = []
    for text, names in texts.items():
        clauses.append(text if len(names) == len(columns) else f"{text} in {', '.join(names)}")
    if clauses:
        yield f"Input was {'; '.join(clauses)}."


def _exceptions(trials: Sequence[Trial], usual: CacheState) -> str:
    """Return `, but warm of q1 and q2`: the workloads whose input was not cold or warm as most of it was."""
    if usual is CacheState.MIXED:
        return ""
    shares = disk_shares(trials)
    words: list[str] = []
    for state, names in grouped(shares, lambda name: CacheState.of(shares[name])).items():
        if state is not usual:
            words.append(f", but {state.value} of {join_names(names)}")
    return "".join(words)
