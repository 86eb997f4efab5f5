"""`clusterlift layout` prints tables of an observed directory, and a verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput
from harness.commands import layout as command
from harness.commands.cli import main
from harness.present import text
from harness.present.layout_page import layout_page
from tests.refusal import refusal

WHOLE = {"layout": "replicated:2", "bytes": 1_000, "missing": 0, "excess": 0}
FILE = WHOLE | {"placement": {"n1:9866": 1_000, "n2:9866": 1_000}}
OBSERVED: dict[str, Any] = {
    "uri": "hdfs://nn:9820/bench/rows",
    "storage": "hdfs",
    "requested": "replicated:2",
    "manifest": "replicated:2",
    "problem": None,
    "why": "",
    "differing": [],
    "directories": 0,
    "stored_bytes": 4_000,
    "placement": {"n1:9866": 3_000, "n2:9866": 1_000},
    "coder": None,
    "page_cache": None,
    "files": {"part-0": FILE, "part-1": FILE},
}


def test_a_verified_dataset() -> None:
    assert text.render(layout_page(OBSERVED)) == (
        "hdfs://nn:9820/bench/rows\n"
        "\n"
        "layout          files    bytes    bytes stored    stored per byte    missing    excess\n"
        "------------  -------  -------  --------------  -----------------  ---------  --------\n"
        "replicated:2        2    2,000           4,000              2.000          0         0\n"
        "\n"
        "node       bytes stored    share\n"
        "-------  --------------  -------\n"
        "n1:9866           3,000    75.0%\n"
        "n2:9866           1,000    25.0%\n"
        "\n"
        "verified: every file is complete and replicated:2, as in the manifest\n"
    )


@pytest.mark.parametrize(
    ("observed", "last"),
    [
        (
            {"problem": "of 2 files, 1 missing (first: part-2)"},
            "DIFFERS: the manifest says replicated:2; of 2 files, 1 missing (first: part-2)",
        ),
        (
            {"problem": "of 2 files, 1 are rs:6+3:64k (first: part-0)", "why": "a known reason"},
            (
                "DIFFERS: the manifest says replicated:2; "
                "of 2 files, 1 are rs:6+3:64k (first: part-0) (a known reason)"
            ),
        ),
        (
            {"manifest": None},
            "every file is complete; no manifest says which layout they should have",
        ),
        (
            {"stored_bytes": None, "placement": {}, "manifest": "unknown"},
            "the file system does not report how it stores files",
        ),
        ({"files": {}, "placement": {}, "manifest": None}, "the directory has no files"),
    ],
)
def test_the_verdict_comes_last(observed: dict[str, Any], last: str) -> None:
    assert text.render(layout_page(OBSERVED | observed)).splitlines()[-1] == last


def test_files_that_differ_are_named_and_many_are_counted() -> None:
    odd = FILE | {"layout": "replicated:3", "missing": 1, "excess": 2}
    names = [f"part-{number:02}" for number in range(12)]
    observed = {"files": dict.fromkeys(names, odd), "differing": names, "problem": "x"}
    lines = text.render(layout_page(OBSERVED | observed)).splitlines()
    assert "differs: part-00: replicated:3, 1 missing, 2 excess" in lines
    assert "differs: 2 more files" in lines
    assert len([line for line in lines if line.startswith("differs: part")]) == 10


def test_what_is_not_known_of_some_files_is_known_of_the_others() -> None:
    odd = FILE | {"layout": "unknown", "placement": {}}
    observed = {"files": {"part-0": FILE, "part-1": odd}, "stored_bytes": None, "problem": "x"}
    lines = text.render(layout_page(OBSERVED | observed)).splitlines()
    [known, unknown] = [
        line.split() for line in lines if line.startswith(("replicated", "unknown"))
    ]
    assert known == ["replicated:2", "1", "1,000", "2,000", "2.000", "0", "0"]
    assert unknown == ["unknown", "1", "1,000", *["unknown"] * 4]
    assert "the bytes of nodes are those of the files whose layout is known" in lines


def test_names_from_outside_cannot_move_the_cursor() -> None:
    assert "\x1b" not in text.render(
        layout_page(OBSERVED | {"uri": "hdfs://\x1b[2J", "problem": "\x1b[2J"})
    )


@pytest.mark.parametrize(("problem", "code"), [(None, 0), ("of 2 files, 1 missing", 1)])
def test_the_exit_code_is_1_for_a_problem(
    problem: str | None, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def observe(script: str, uri: str, _output: str, file: str, **_: object) -> None:
        assert (script, uri) == ("datagen/observe.py", "hdfs://nn/rows")
        Path(file).write_text(json.dumps(OBSERVED | {"problem": problem}))

    monkeypatch.setattr(command, "run_script_silently", observe)
    assert main(["layout", "hdfs://nn/rows"]) == code


def test_an_error_under_spark_is_printed_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BadInput("hdfs://nn/rows does not exist")

    monkeypatch.setattr(command, "run_script_silently", fail)
    assert refusal("layout", "hdfs://nn/rows") == "hdfs://nn/rows does not exist"
