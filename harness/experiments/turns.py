"""The turns of configurations: each is in force during its own, and put back after it."""

from contextlib import ExitStack

from harness.experiments.experiment import Configuration
from harness.experiments.site import Configured, Site
from harness.settings.journal import Journal


class Turns(ExitStack):
    """A context in which configurations take turns. The last of them is put back when it is left."""

    def __init__(self, site: Site, journal: Journal) -> None:
        super().__init__()
        self._site = site
        self._journal = journal
        self._current: Configuration | None = None
        self._configured: Configured | None = None
        self._lost: str | None = None

    def take(self, configuration: Configuration) -> Configured:
        """Put a configuration in force, if it is not, in place of the one before."""
        if self._configured is None or self._current != configuration:
            self._leave()
            context = self._site.configured(configuration, self._journal)
            self._configured = self.enter_context(context)
            self._current = configuration
        return self._configured

    def begin(self, configuration: Configuration) -> None:
        """Begin a turn, and look whether the turn before ended as it began."""
        self._lost = self.lost()
        self.take(configuration)

    def end(self) -> None:
        """End the turn, whatever it has lost; the next one sets everything anew."""
        self._leave()
        self._lost = None

    def lost(self) -> str | None:
        """Return in one line what was not as it was set at the end of a turn; None if all was."""
        if self._lost is None and self._configured is not None:
            return self._configured.lost()
        return self._lost

    def _leave(self) -> None:
        self._current = None
        self._configured = None
        self.close()  # the last: if putting back fails, what is gone then was not lost in the turn
