"""What probes measure: a metric of a subject, with its unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

HIGHER, LOWER = "higher", "lower"


@dataclass(frozen=True)
class Measurement:
    """One value, or one line on why there is none.

    `subject` is a host, a pair (`node1 -> node2`) or two racks; `case` tells apart what is measured
    of it in several ways, such as `both ways`, and may be empty. `better` is `higher` or `lower`.
    `round` counts the repeats from 1.
    """

    probe: str
    subject: str
    case: str
    metric: str
    unit: str
    better: str
    value: float | None = None
    error: str | None = None
    round: int = 1

    def __post_init__(self) -> None:
        if (self.value is None) == (self.error is None):
            raise ValueError("a measurement has either a value or an error")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("a value is a finite number")
        if self.better not in {HIGHER, LOWER}:
            raise ValueError(f"better is {HIGHER} or {LOWER}")


@dataclass(frozen=True)
class Metric:
    """What can be measured by a probe. Its name ends in its unit, where it has one."""

    probe: str
    name: str
    unit: str
    better: str

    def of(self, subject: str, value: float, case: str = "") -> Measurement:
        """A value."""
        return self._measurement(subject, case, value=float(value))

    def failed(self, subject: str, error: object, case: str = "") -> Measurement:
        """Why there is no value."""
        return self._measurement(subject, case, error=str(error))

    def _measurement(
        self, subject: str, case: str, value: float | None = None, error: str | None = None
    ) -> Measurement:
        return Measurement(
            self.probe, subject, case, self.name, self.unit, self.better, value, error
        )
