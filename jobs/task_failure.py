"""Why a task failed: the reason in what Spark says of it, which may be two stacks, of Java and of Python."""

import re

from harness.base.words import first_line, shorten, visible

MAX_LENGTH = 300
NO_REASON = "no reason given"
_RAISED = re.compile(r"^\s*((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt): .+)$", re.MULTILINE)
_PACKAGE = re.compile(r"^(?:\w+\.)+(?=\w+: )")


def reason_of(message: str) -> str:
    """Return the reason in one line without control characters, at most MAX_LENGTH characters.

    It is the last exception that begins a line. The stack of Java comes last, and only `Caused by` begins its
    further lines.
    """
    raised = _RAISED.findall(message)
    found = raised[-1] if raised else first_line(message, NO_REASON)
    return shorten(visible(_PACKAGE.sub("", found.strip())), MAX_LENGTH)
