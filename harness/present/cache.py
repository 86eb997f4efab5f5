"""Where the input of configurations came from, in a sentence: cold, warm or mixed."""

from collections.abc import Iterator, Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.base.words import names_by_text
from harness.model.cache import cache_text, disk_share


def cache_sentences(columns: Sequence[ConfigurationRuns]) -> Iterator[str]:
    """Yield `Input was cold (98 % from disks).`, by column if they differ; nothing if that is unknown."""
    known = {}
    for column in columns:
        share = disk_share(measured_trials(column.runs))
        if share is not None:
            known[column.name] = cache_text(share)
    texts = names_by_text(known)
    clauses = []
    for text, names in texts.items():
        clauses.append(text if len(names) == len(columns) else f"{text} in {', '.join(names)}")
    if clauses:
        yield f"Input was {'; '.join(clauses)}."
