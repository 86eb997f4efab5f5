"""A run waits for its experiment."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.trials.hold import DROP_CACHES, wait_for_release
from tests.waiting import PATIENCE_S, eventually


class TestHold:
    def test_nobody_waits_unless_the_variable_is_set(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("CLUSTERLIFT_HOLD_FILE", raising=False)
        assert not wait_for_release("slow")
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize(
        ("request_", "line"),
        [
            ("slow", "ready for trials of slow; waiting until {} is removed\n"),
            (DROP_CACHES, ""),  # it comes before each trial
        ],
    )
    def test_the_wait_ends_when_the_file_is_removed(
        self,
        request_: str,
        line: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        file = tmp_path / "hold"
        monkeypatch.setenv("CLUSTERLIFT_HOLD_FILE", str(file))
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(wait_for_release, request_)
            eventually(file.exists)
            assert not waiting.done()
            assert file.read_text() == request_
            file.unlink()
            assert waiting.result(PATIENCE_S)
        assert capsys.readouterr().out == line.format(file)

    def test_a_file_that_cannot_be_created_is_an_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLUSTERLIFT_HOLD_FILE", "/no/such/file")
        with pytest.raises(
            BadInput, match=r"^CLUSTERLIFT_HOLD_FILE is /no/such/file: No such file"
        ):
            wait_for_release("slow")
