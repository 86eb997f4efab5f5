"""Findings about the Python and the Java of hosts, before Spark fails because of them."""

from collections.abc import Iterator, Sequence

from harness.base.entry import OLDEST_PYTHON
from harness.base.spark_needs import dotted, java_fault, minor_version, needs_of, python_fault
from harness.base.words import join_names, names_by_text
from harness.model.finding import Finding, about, note
from harness.node.state import NodeState

_SET_PYTHON = "install another one on every node, and set PYSPARK_PYTHON to it"
_SET_JAVA = "unless Spark has another JAVA_HOME there, install one"


def platform_notes(states: Sequence[NodeState], spark: str) -> Iterator[Finding]:
    """Yield notes about hosts where tasks of this Spark could not run. Its version is empty if unknown."""
    for state in states:
        subject = about(state.host)
        python = _python_note(state.python, spark)
        if python:
            yield note(python, _SET_PYTHON, subject)
        needs = needs_of(spark)
        if needs and java_fault(spark, state.java):
            yield note(
                f"its Java is {state.java}, and Spark {spark} needs Java {needs.java}",
                _SET_JAVA,
                subject,
            )
    yield from _differing_pythons(states)


def _python_note(python: str, spark: str) -> str:
    """Return what is wrong with the Python of a host; empty if nothing is, or if its version is not known."""
    version = minor_version(python)
    needs = needs_of(spark)
    if version and version < OLDEST_PYTHON:
        needed = f"what Spark runs there needs Python {dotted(OLDEST_PYTHON)} or newer"
    elif needs and python_fault(spark, python):
        needed = f"Spark {spark} needs Python {needs.python}"
    else:
        return ""
    return f"its Python is {python}, and {needed}"


def _differing_pythons(states: Sequence[NodeState]) -> Iterator[Finding]:
    """Yield a note if the minor versions of Python differ, because driver and tasks need the same one."""
    versions: dict[str, str] = {}
    for state in states:
        version = minor_version(state.python)
        if version:
            versions[state.host] = dotted(version)
    hosts = names_by_text(versions)
    if len(hosts) > 1:
        listed = "; ".join(f"{text} on {join_names(names)}" for text, names in hosts.items())
        yield note(
            f"Python differs ({listed}): Spark refuses tasks whose Python is not the driver's",
            _SET_PYTHON,
        )
