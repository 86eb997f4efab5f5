"""A trial has a time or an error, never both; and who may import whom."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.model.run import Phase, Status, Trial

ROOT = Path(harness.__file__).parents[1]
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in (ROOT / "harness").rglob("*.py")
    if file.name != "__main__.py"
)
RECORDING = [
    name
    for name in MODULES
    if name in ("harness.model.run", "harness.model.errors") or ".record" in name
]


class TestTrial:
    @pytest.mark.parametrize(
        ("status", "wall_s", "error"),
        [
            (Status.OK, None, None),
            (Status.OK, 1.0, "but"),
            (Status.OK, -1.0, None),
            (Status.OK, float("nan"), None),
            (Status.OK, float("inf"), None),
            (Status.FAILED, 1.0, "boom"),
            (Status.FAILED, None, None),
        ],
    )
    def test_cannot_be(self, status: Status, wall_s: float | None, error: str | None) -> None:
        with pytest.raises(ValueError, match=r"^a t"):
            Trial("w", Phase.MEASURED, 1, status, "", wall_s=wall_s, error=error)


def imported_by(modules: list[str], *flags: str) -> set[str]:
    """The top-level names that a fresh interpreter has loaded after importing all of them."""
    program = (
        f"import importlib, sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules)\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run(
        [sys.executable, *flags, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


class TestArrows:
    def test_nothing_of_harness_needs_spark_or_what_runs_on_it(self) -> None:
        assert not imported_by(MODULES) & {"pyspark", "py4j", "jobs", "datagen"}

    def test_the_recording_path_is_the_standard_library_alone(self) -> None:
        loaded = imported_by(RECORDING, "-I", "-S")
        assert "harness" in loaded
        assert loaded - {"harness"} <= sys.stdlib_module_names

    def test_recording_knows_neither_analysis_nor_presentation(self) -> None:
        rooms = "print(*{name for name in sys.modules if name.startswith('harness.')})"
        program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        program += "".join(f"import {name}\n" for name in RECORDING) + rooms
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert not [n for n in done.stdout.split() if ".analysis" in n or ".present" in n]
