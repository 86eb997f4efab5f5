"""Processor time, and the yardstick that makes it comparable between machines: parsing JSON."""

import json
import time
from collections.abc import Callable
from pathlib import Path

REPETITIONS = 5


def processor_s(action: Callable[[], object]) -> float:
    """Return the seconds of processor time that an action takes."""
    started = time.process_time()
    action()
    return time.process_time() - started


def parsing_s(directory: Path) -> float:
    """Return the seconds that parsing every line of the results files takes, at best."""
    lines = [line for file in directory.rglob("*.jsonl") for line in file.read_text().splitlines()]
    return min(
        processor_s(lambda: [json.loads(line) for line in lines]) for _ in range(REPETITIONS)
    )
