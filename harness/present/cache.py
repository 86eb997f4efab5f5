"""Where the input of configurations came from, in a sentence: cold, warm or mixed."""

from collections.abc import Iterator, Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.base.words import names_by_text
from harness.model.cache import cache_text, disk_share


def cache_sentences(columns: Sequence[ConfigurationRuns]) -> Iterator[str]:
    """Yield `Input was cold (98 % from disks).`, by column if they differ; nothing if that is unknown."""
    shares = {column.name: disk_share(measured_trials(column.runs)) for column in columns}
    known = {name: cache_text(share) for name, share in shares.items() if share is not None}
    texts = []
    for text, own in names_by_text(known).items():
        where = f" in {', '.join(own)}" if len(own) < len(shares) else ""
        texts.append(text + where)
    if texts:
        yield f"Input was {'; '.join(texts)}."
