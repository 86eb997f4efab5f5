"""What a probe shows, as a value: its page, the gate, the report and `ready` print the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that a probe shows.

    - `subject`: a host, a path `a -> b`, or empty for the network as a whole.
    - `text`: one line without the subject, ready to print.
    - `is_fault`: whether something has to be mended; otherwise it is a remark.
    - `at_s`: when, in seconds after the probe started; None if it holds for the whole probe.
    """

    subject: str
    text: str
    is_fault: bool = True
    at_s: float | None = None

    def __str__(self) -> str:
        """Return the line: `node1 eth0: half duplex`."""
        return f"{self.subject}: {self.text}" if self.subject else self.text
