"""Which workloads exist, and which of them a run executes."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jobs.workloads
from harness.model.errors import BadInput
from jobs.workload import Workload


@dataclass(frozen=True)
class Selection:
    """The workloads of a run, in order.

    `omitted` has the reason for each workload that cannot run here, by name; `not_requested` the names
    of those that the user did not choose.
    """

    workloads: tuple[Workload, ...]
    omitted: Mapping[str, str]
    not_requested: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(workload.name for workload in self.workloads)

    @property
    def reads_data(self) -> bool:
        return any(workload.reads_data for workload in self.workloads)


def select_workloads(names: Sequence[str] | None) -> Selection:
    """Return the selection of the named workloads, or of all that can run here if `names` is None.

    Raises BadInput for an unknown name, and for a named workload that cannot run here.
    """
    known = discover()
    runnable, omitted = [], {}
    for workload in known_workloads(names or list(known), known):
        if not (missing := workload.missing()):
            runnable.append(workload)
        elif names is None:
            omitted[workload.name] = f"needs {', '.join(missing)}, which this Python does not have"
        else:
            raise BadInput(
                f"--workloads: {workload.name} needs {', '.join(missing)}; install it for the "
                "driver's and the executors' Python, or leave the workload out"
            )
    requested = {workload.name for workload in runnable} | omitted.keys()
    return Selection(tuple(runnable), omitted, tuple(n for n in known if n not in requested))


def discover() -> dict[str, Workload]:
    """Return every workload by name: the subclasses of Workload in the modules of jobs.workloads.

    An abstract class without a name is a base of workloads, and no workload itself.
    """
    found: list[Workload] = []
    for entry in pkgutil.iter_modules(jobs.workloads.__path__, f"{jobs.workloads.__name__}."):
        module = importlib.import_module(entry.name)
        found += [
            member()
            for member in vars(module).values()
            if isinstance(member, type)
            and issubclass(member, Workload)
            and not (inspect.isabstract(member) and not hasattr(member, "name"))
            and member.__module__ == module.__name__
        ]
    in_order = sorted(found, key=lambda workload: (workload.bottleneck, workload.name))
    return {workload.name: workload for workload in in_order}


def known_workloads(names: Sequence[str], known: Mapping[str, Workload]) -> list[Workload]:
    """Return the workloads with these names, in this order, each once.

    Raises BadInput for an unknown name, with the most similar known names.
    """
    for name in names:
        if name not in known:
            similar = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(similar)}?" if similar else "there are"
            listed = "" if similar else f" {', '.join(known)}"
            raise BadInput(f"unknown workload '{name}'; {hint}{listed}")
    return [known[name] for name in dict.fromkeys(names)]
