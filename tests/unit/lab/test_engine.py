"""What a container printed, by a fake client of Docker."""

from pathlib import Path

import pytest

from harness.lab.engine import NO_OUTPUT, last_message
from harness.model.errors import ClusterliftError

AT = "2026-11-24T12:00:0{second}.000000000Z {text}"


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory whose files `output` and `errors` the client prints."""
    client = tmp_path / "docker"
    client.write_text(f"#!/bin/sh\ncat {tmp_path}/output; cat {tmp_path}/errors >&2\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "errors", "message"),
    [
        ([(1, "starting")], [(2, "this image has no QFS")], "this image has no QFS"),
        ([(3, "Exiting with status 1")], [(2, "a note")], "Exiting with status 1"),
        ([], [(1, "a note")], "a note"),
        ([(1, "the reason"), (2, "")], [], "the reason"),
        ([], [], NO_OUTPUT),
    ],
)
def test_the_last_message_of_a_container_is_of_either_stream(
    printed: Path, output: list[tuple[int, str]], errors: list[tuple[int, str]], message: str
) -> None:
    for name, lines in (("output", output), ("errors", errors)):
        texts = (AT.format(second=second, text=text) for second, text in lines)
        (printed / name).write_text("".join(f"{text}\n" for text in texts))
    assert last_message("worker-1") == message


def test_a_container_that_is_gone_has_none(printed: Path) -> None:
    (printed / "docker").write_text("#!/bin/sh\necho 'Error: no such container' >&2; exit 1\n")
    with pytest.raises(ClusterliftError, match=r"^docker logs failed: Error: no such container$"):
        last_message("worker-1")
