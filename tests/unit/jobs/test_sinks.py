"""What Spark observed is received, or is refused if Spark has left it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import Any, cast

import pytest
from pyspark.sql import Observation

from harness.base.errors import WrongAnswer
from jobs import sinks


class FakeObservation:
    """An observation whose values come as a function returns them."""

    def __init__(self, receive: Callable[[], Mapping[str, Any]]) -> None:
        self._receive = receive

    @property
    def get(self) -> Mapping[str, Any]:
        return self._receive()


def values_of(receive: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    return sinks._values_of(cast("Observation", FakeObservation(receive)))


def fail() -> Mapping[str, Any]:
    raise TimeoutError("the driver does not answer")


def test_values_are_returned() -> None:
    assert values_of(lambda: {"rows": 3}) == {"rows": 3}


def test_an_error_of_spark_is_raised_as_it_is() -> None:
    with pytest.raises(TimeoutError, match="the driver does not answer"):
        values_of(fail)


def test_without_values_the_observation_was_left_out() -> None:
    with pytest.raises(WrongAnswer, match="left out the observation"):
        values_of(dict)


def test_an_observation_that_never_comes_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "EVENT_WAIT_S", 0.01)
    never = Event()

    def receive() -> Mapping[str, Any]:
        never.wait()
        return {"rows": 3}

    with pytest.raises(WrongAnswer, match="left out the observation"):
        values_of(receive)
    never.set()
