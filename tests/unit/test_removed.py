"""Whoever names something that was removed reads what to use instead, in one line, with exit code 2."""

import sys

import pytest

from harness.cli import main
from harness.removed import INSTEAD, instead_of
from harness.runtime.command_line import Parser

SCRIPTS = ("benchmark.py", "generate.py")


def refusal(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command line and return its exit code."""
    if words[0] not in SCRIPTS:
        return main(words)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as exit_:
        Parser(words[0], "").parse_args()
    return int(exit_.value.code or 0)


@pytest.mark.parametrize(("key", "sentence"), INSTEAD.items())
def test_one_line_says_what_to_use_instead(
    key: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert refusal(" ".join(key).split(), monkeypatch) == 2
    printed = capsys.readouterr()
    program = key[0] if key[0] in SCRIPTS else "clusterlift"
    assert printed.err == f"{program}: error: {' '.join(key)} was removed: {sentence}\n"
    assert printed.out == ""


def test_only_what_was_removed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    removed = {
        ("score",): "use A",
        ("probe", "--via spark"): "use B",
        ("compare", "--earlier"): "use C",
    }
    monkeypatch.setattr("harness.removed.INSTEAD", removed)
    assert instead_of(["score", "x"]) == "score was removed: use A"
    assert (
        instead_of(["probe", "link", "--via=spark", "x"]) == "probe --via spark was removed: use B"
    )
    assert instead_of(["compare", "a", "--earlier", "3"]) == "compare --earlier was removed: use C"
    for words in (
        ["show", "score"],
        ["probe", "link", "--via", "ssh", "spark"],
        ["probe", "--", "--via", "spark"],
        ["explain", "a", "--earlier"],
        [],
    ):
        assert instead_of(words) is None
