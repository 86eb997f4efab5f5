"""What a plan scans, by the name that the run has for it: where a table is stored is no part of a plan."""

from collections.abc import Mapping
from dataclasses import replace

from harness.eventlog.passing_words import place, without_passing_words
from harness.model.plan import Operator, Plan
from harness.model.run import TABLES, Run

DATASET = "dataset"


def names_by_place(run: Run) -> dict[str, str]:
    """Return the names of the dataset and of the tables by what plans call their locations.

    Locations that plans call the same are left out.
    """
    uris = {name: facts.get("uri") for name, facts in (run.parameters.get(TABLES) or {}).items()}
    if run.dataset:
        uris.setdefault(DATASET, run.dataset.get("uri"))
    found: dict[str, list[str]] = {}
    for name, uri in uris.items():
        for called in _called(str(uri or "")):
            found.setdefault(called, []).append(name)
    return {called: names[0] for called, names in found.items() if called and len(names) == 1}


def _called(uri: str) -> set[str]:
    """Return what plans call a location: its last directory, and in older results perhaps the last two."""
    last_two = "/".join(uri.rstrip("/").split("/")[-2:])
    return {without_passing_words(place(uri)), without_passing_words(last_two)}


def with_names(plan: Plan, names: Mapping[str, str]) -> Plan:
    """Return a plan whose scans have these names in place of locations."""
    return replace(plan, operators=tuple(_with_name(each, names) for each in plan.operators))


def _with_name(operator: Operator, names: Mapping[str, str]) -> Operator:
    """Return an operator with the name of what it scans: in its details, that follows the format."""
    if "Scan" not in operator.name:
        return operator
    words = operator.details.split(" ")
    for position, word in enumerate(words[:2]):
        if word in names:
            words[position] = names[word]
            break
    return replace(operator, details=" ".join(words))
