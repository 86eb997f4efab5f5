"""Wherever a run that writes ends, nothing of it is left beside the dataset, and nothing else is touched."""

import contextlib
import itertools
from collections.abc import Callable, Iterator

import pytest

from datagen import written
from datagen.filesystem import Directory
from datagen.marker import MARKER, UNCOMMITTED, Marker
from datagen.written import SUFFIX, clear_executions, reserved
from harness.base.errors import BadInput

from .fake_hadoop import FileSystem, Killed, directory

PART = "part-00000-00000000-0000-0000-0000-000000000000-c000.lz4raw.parquet"
ROWS, BESIDE = "/data/rows", f"/data/rows{SUFFIX}"
NEIGHBOURS = {ROWS: None, f"{ROWS}/{PART}": "rows", "/data/rows.writ": None}

of_both_kinds = pytest.mark.parametrize("is_object_store", [False, True])


def when_the_process(monkeypatch: pytest.MonkeyPatch, *, has_ended: bool | None) -> None:
    monkeypatch.setattr(written, "has_ended", lambda _identity: has_ended)


def a_file_system(*, is_object_store: bool = False) -> FileSystem:
    fs = FileSystem(is_object_store=is_object_store)
    fs.nodes |= {"/data": None, **NEIGHBOURS}
    return fs


def run(fs: FileSystem, meanwhile: Callable[[Directory, Marker], object] = lambda *_: None) -> None:
    """Write twice beside the dataset, as two trials do. The second does not commit all its files."""
    beside = directory(fs, BESIDE)
    with reserved(beside, lambda: True) as marker:
        for number in (1, 2):
            execution = beside.below(f"{marker.token}-{number}")
            execution.create_new()
            execution.below(UNCOMMITTED).create()
            execution.create_file(PART, "rows", overwrite=False)
            execution.create_file("_SUCCESS", "", overwrite=False)
            meanwhile(execution, marker)
            clear_executions(marker)


def with_one_failure(
    failure: type[BaseException], *, is_object_store: bool
) -> Iterator[FileSystem]:
    """Yield a file system for each change of a run: there it failed."""
    for step in itertools.count():
        number, after = divmod(step, 2)
        fs = a_file_system(is_object_store=is_object_store)
        fs.failing_at, fs.after, fs.failure = number, bool(after), failure
        with contextlib.suppress(Killed, BadInput):
            run(fs)
        if fs.changes <= fs.failing_at:
            assert number > 15
            return
        fs.dead, fs.failing_at = False, -1
        yield fs


def left(fs: FileSystem) -> set[str]:
    """Return what is there besides the dataset and its neighbours."""
    return fs.nodes.keys() - {"/", "/data", *NEIGHBOURS}


@of_both_kinds
@pytest.mark.parametrize("failure", [Killed, ValueError])
def test_after_a_kill_or_a_failure_at_any_change_the_next_command_leaves_nothing(
    failure: type[BaseException], monkeypatch: pytest.MonkeyPatch, *, is_object_store: bool
) -> None:
    when_the_process(monkeypatch, has_ended=True)
    for fs in with_one_failure(failure, is_object_store=is_object_store):
        if (
            fs.nodes.get(f"{BESIDE}/{MARKER}") == ""
        ):  # who has created an empty file, nobody can know
            with pytest.raises(BadInput, match="clusterlift has not made it: move it elsewhere"):
                run(fs)
            directory(fs, BESIDE).delete(MARKER)
        assert fs.nodes.items() >= NEIGHBOURS.items()
        was_empty = left(fs) == {BESIDE}
        run(fs)
        assert left(fs) == ({BESIDE} if was_empty else set())


@of_both_kinds
@pytest.mark.parametrize("error", [BadInput("disk full"), KeyboardInterrupt()])
def test_an_error_and_an_interrupt_leave_nothing(
    error: BaseException, *, is_object_store: bool
) -> None:
    def fail(*_: object) -> None:
        raise error

    fs = a_file_system(is_object_store=is_object_store)
    with pytest.raises(type(error)):
        run(fs, fail)
    assert not left(fs)


@pytest.mark.parametrize(
    ("has_ended", "advice"),
    [(False, "wait until that run has ended"), (None, "if that process has ended, delete the dir")],
)
def test_of_two_runs_at_the_same_time_the_later_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, advice: str, *, has_ended: bool | None
) -> None:
    """None is a process on another host: nobody here knows whether it still runs."""
    when_the_process(monkeypatch, has_ended=has_ended)
    fs = a_file_system()

    def start_another(*_: object) -> None:
        before = dict(fs.nodes)
        with pytest.raises(BadInput, match=rf"process \d+ on .* since .* writes to .*{advice}"):
            run(fs)
        assert fs.nodes == before

    run(fs, start_another)
    assert not left(fs)


def test_a_run_whose_marker_was_replaced_deletes_what_it_wrote_and_nothing_else() -> None:
    fs = a_file_system()
    other = f"{BESIDE}/0123456789abcdef-1"

    def take_over(_execution: Directory, marker: Marker) -> None:
        marker.directory.create_file(MARKER, "another process", overwrite=True)
        fs.nodes |= {other: None, f"{other}/{PART}": "of the other"}

    run(fs, take_over)
    assert left(fs) == {BESIDE, f"{BESIDE}/{MARKER}", other, f"{other}/{PART}"}


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (BESIDE, "a file", "is a file, not a directory"),
        (f"{BESIDE}/thesis", None, "clusterlift has not made it: move it elsewhere"),
        (
            f"{BESIDE}/{PART}",
            "of another program",
            "clusterlift has not made it: move it elsewhere",
        ),
    ],
)
def test_what_another_program_made_is_refused_and_stays(
    path: str, content: str | None, message: str
) -> None:
    fs = a_file_system()
    fs.nodes |= {BESIDE: None, path: content}
    before = dict(fs.nodes)
    with pytest.raises(BadInput, match=message):
        run(fs)
    assert fs.nodes == before


@pytest.mark.parametrize("place", ["", "/{token}-1"])
def test_a_foreign_file_in_a_directory_of_ours_stays(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    when_the_process(monkeypatch, has_ended=True)
    fs = a_file_system()
    foreign = []

    def put(_execution: Directory, marker: Marker) -> None:
        foreign.append(f"{BESIDE}{place.format(token=marker.token)}/thesis.tex")
        fs.nodes[foreign[0]] = "years of work"
        fs.dead = True

    with pytest.raises(Killed):
        run(fs, put)
    fs.dead = False
    with pytest.raises(
        BadInput, match=rf"{foreign[0]} is not of clusterlift, .*: move it elsewhere"
    ):
        run(fs)
    assert fs.nodes[foreign[0]] == "years of work"
    del fs.nodes[foreign[0]]
    run(fs)
    assert not left(fs)


def test_what_may_still_be_written_to_stays_marked_until_the_next_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    when_the_process(monkeypatch, has_ended=True)
    fs = a_file_system()
    beside = directory(fs, BESIDE)
    with reserved(beside, lambda: False) as marker:
        execution = beside.below(f"{marker.token}-1")
        execution.create_new()
    assert "tasks may still write there; the next run removes it" in capsys.readouterr().err
    execution.create_new()
    execution.create_file(PART, "late", overwrite=False)
    run(fs)
    assert not beside.exists()
