"""A turn of an experiment, which stops at some of its steps until its parent has let something happen.

It has the steps of the simulated histories: where the code talks to a guard, reads a value or writes to
the journal. Arguments: the experiment file, the directory of results, as JSON the steps at which to stop, and
perhaps `faulty`: then nothing is put back or written to the journal.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.commands.experiment import site_of
from harness.experiments.experiment_file import read_experiment
from harness.model.errors import ClusterliftError
from harness.runtime.interrupt import interruptible
from harness.settings import guard, in_force, journal

SOONER = {"LEASE_S": 10, "ANSWER_S": 8.0, "PUT_BACK_S": 20.0, "PAUSES": "0 1 2"}
"""What a guard and those who wait for it wait for, so that a history takes seconds."""
CLOCK_SET_BACK = "clock set back"
_seen: Counter[str] = Counter()
_clock = Counter(s=10**6)


def step(label: str) -> None:
    """Tell the parent that this step comes next, if it wants to know, and wait until it says to go on."""
    _seen[label] += 1
    if [label, _seen[label]] in STOPS:
        tell(f"{label} {_seen[label]}")
        if sys.stdin.readline().strip() == CLOCK_SET_BACK:
            _clock["s"] -= 10**5


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def stepped(name: str, what: str) -> Callable[..., Any]:
    """Return a method of a guard with the step before it."""
    method = getattr(guard.Guard, name)

    def call(self: guard.Guard, *arguments: object) -> Any:
        step(f"{what} {self.host}")
        return method(self, *arguments)

    return call


def run_all(commands: Iterable[Any]) -> Any:
    step("read")
    return RUN_ALL(commands, SOONER["ANSWER_S"])


def write(descriptor: int, data: bytes) -> int:
    step("write")
    return WRITE(descriptor, data)


def close(self: guard.Guard, timeout_s: float = float(SOONER["PUT_BACK_S"])) -> None:
    step(f"close {self.host}")
    CLOSE(self, timeout_s)


STOPS = json.loads(sys.argv[3])
RUN_ALL, WRITE, CLOSE = in_force.run_all, os.write, guard.Guard.close
STEPS = {
    "await_armed": "arm",
    "prepare": "prepare",
    "start_setting": "set",
    "await_set": "await set",
    "start_putting_back": "put back",
    "await_put_back": "await put back",
}


def main() -> None:
    experiment = read_experiment(Path(sys.argv[1]))
    site = site_of(experiment, Path(sys.argv[2]))
    if "faulty" in sys.argv:
        guard.PAUSES = ""
        journal.Journal.record = lambda *_: None
    else:
        in_force.SET_S = 10.0
        for constant, value in SOONER.items():
            setattr(guard, constant, value)
    methods = {name: stepped(name, what) for name, what in STEPS.items()}
    for name, method in {**methods, "close": close}.items():
        setattr(guard.Guard, name, method)
    in_force.run_all = run_all
    journal.timestamp = lambda: str(_clock["s"])
    with interruptible(once=True):
        site.open()
        with journal.open_journal(Path(sys.argv[2]) / "turn/settings.journal") as opened:
            os.write = write
            [configuration, *_] = experiment.configurations
            with site.configured(configuration, opened) as configured:
                step("turn")
                tell(f"lost: {configured.lost()}")
                step("looked")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
    except ClusterliftError as error:
        sys.stderr.write(f"{error}\n")
