"""A Spark whose spark-submit records runs without any computation."""

import json
import shlex
import sys
from pathlib import Path

from tests.programs import shell_program
from tests.tracked import ROOT

SEED = "--seed="
FAKE = """
# Whatever is imported here is imported a hundred times: no command, and no analysis.
import argparse, json, os, signal, sys, time
from pathlib import Path
from harness.model.run import Ending, Phase, Run, Status, Trial, new_run_id, timestamp
from harness.records.writer import Recording
from harness.base.interrupt import interruptible
from harness.work.series import current_series
from harness.trials.time_budget import machine_clock

home = Path(__file__).parent
with (home / "calls").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
outcomes = (home / "outcomes").read_text().split()
outcome = outcomes.pop(0) if outcomes else "complete"
(home / "outcomes").write_text(" ".join(outcomes))
script = next(i for i, word in enumerate(sys.argv) if word.endswith("jobs/benchmark.py"))
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--results", type=Path, default=Path("results"))
parser.add_argument("--configuration", type=str.strip, default="default")
record, _ = parser.parse_known_args(sys.argv[script + 1 :])
if outcome == "refused":
    print("benchmark.py: error: no")
    sys.exit(2)
limit = os.environ.get("CLUSTERLIFT_END_BY")
with (home / "limits").open("a") as limits:
    limits.write(f"{float(limit) - machine_clock():.0f}\\n" if limit else "none\\n")
with (home / "proven").open("a") as proven:
    proven.write(os.environ["CLUSTERLIFT_PROVEN"] + "\\n")
now = timestamp()
run = Run(
    id=new_run_id(), configuration=record.configuration, started_at=now, workloads=(),
    parameters={"series": current_series(), "content_checked": True},
    dataset={"uri": "d", "layout": {}, "fingerprint": "f1"}, written_by="clusterlift 0.1.0",
)
status, found = (
    (Status.FAILED, {"error": "no"}) if outcome == "failed" else (Status.OK, {"wall_s": 1.0})
)
with Recording(record.results, run) as recording:
    recording.trial(Trial("w", Phase.MEASURED, 1, status, now, **found))
    if outcome == "wait":
        try:
            with interruptible():
                (home / "waiting").touch()
                time.sleep(600)
        except KeyboardInterrupt:
            recording.end(Ending.INTERRUPTED)
            sys.exit(130)
    if outcome == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    recording.end(Ending.SPARK_LOST if outcome == "lost" else Ending.COMPLETED)
sys.exit(int(outcome != "complete"))
"""


class FakeSpark:
    """A Spark whose spark-submit has the outcomes that are planned, and then complete runs."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "jars").mkdir(parents=True)
        (home / "fake.py").write_text(FAKE)
        # Without the installed packages, which a run does not need, it starts in half the time.
        python = f"PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -S"
        shell_program(home / "bin/spark-submit", f'{python} {home}/fake.py "$@"')
        self.plan()

    def plan(self, *outcomes: str) -> None:
        (self.home / "outcomes").write_text(" ".join(outcomes))

    def calls(self) -> list[list[str]]:
        """Return the command line of each spark-submit, without the seed."""
        return [[w for w in words if not w.startswith(SEED)] for words in self._words()]

    def seeds(self) -> list[str]:
        """Return the seed that each run has."""
        return [words[-1].removeprefix(SEED) for words in self._words() if SEED in words[-1]]

    def _words(self) -> list[list[str]]:
        file = self.home / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def parts(self) -> list[int | None]:
        """Return the half minutes that each run had; None if it could take as long as it needed."""
        texts = (self.home / "limits").read_text().split()
        return [None if text == "none" else round(float(text) / 30) for text in texts]

    def is_waiting(self) -> bool:
        return (self.home / "waiting").exists()
