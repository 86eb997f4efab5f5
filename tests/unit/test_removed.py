"""Whoever names something that was removed reads what to use instead, in one line, with exit code 2."""

import pytest

from harness.cli import main
from harness.removed import INSTEAD, instead_of


@pytest.mark.parametrize(("key", "sentence"), INSTEAD.items())
def test_one_line_says_what_to_use_instead(
    key: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(" ".join(key).split()) == 2
    printed = capsys.readouterr()
    assert printed.err == f"clusterlift: error: {' '.join(key)} was removed: {sentence}\n"
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
