"""An application on hosts of the user's own, which waits for its turns."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from harness.experiments import hosts_site
from harness.experiments.hosts_site import HostsSite
from harness.experiments.hosts_spec import HostsSpec
from harness.runtime.trials import HOLD_FILE


@pytest.mark.parametrize("ends", [False, True])
def test_an_application_may_end_while_its_turn_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    """Then it has removed the file by which it waits."""
    held: list[Path] = []
    turns: list[str] = []

    def run(
        _command: Sequence[str], environment: Mapping[str, str], meanwhile: Callable[[], None]
    ) -> int:
        held.append(Path(environment[HOLD_FILE]))
        meanwhile()  # it does not wait yet
        held[0].write_text("slow")
        meanwhile()
        assert not held[0].exists()
        return 7

    def on_turn(configuration: str) -> None:
        turns.append(configuration)
        if ends:
            held[0].unlink()

    monkeypatch.setattr(hosts_site, "run_to_its_end", run)
    monkeypatch.setattr(hosts_site, "spark_submit_command", lambda: ["spark-submit"])
    monkeypatch.setattr(hosts_site, "spark_environment", dict)
    site = HostsSite(HostsSpec("local", "n1"), "x", tmp_path)
    assert site.submit("jobs/benchmark.py", (), on_turn=on_turn) == 7
    assert turns == ["slow"]
