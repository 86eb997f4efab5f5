"""Wherever generate.py ends, there is a whole dataset or none, and the next one can start."""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator

import pytest

from datagen.dataset import data_files
from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.marker import (
    DRAFT,
    MARKER,
    UNCOMMITTED,
    attempt_of,
    check_replaceable,
    generating,
)
from datagen.removal import opened, remove
from harness.base.errors import BadInput, ClusterliftError

from .fake_hadoop import FileSystem, Killed, directory

ROWS = "/data/rows"
JOB = "00000000-0000-0000-0000-000000000000"
PARTS = [f"part-0000{n}-{JOB}-c000.csv" for n in range(3)]
NAMED = "part-{token}-0000{n}-11111111-1111-1111-1111-111111111111-c000.csv"

of_both_kinds = pytest.mark.parametrize("is_object_store", [False, True])


def generate(
    fs: FileSystem,
    content: str,
    *,
    overwrite: bool = True,
    meanwhile: Callable[[Directory], object] = lambda _: None,
) -> None:
    """Write a dataset in which each file has this content."""
    rows = directory(fs, ROWS)
    unfinished = check_replaceable(rows, overwrite=overwrite, reuse=False)
    with generating(rows, taken_over=unfinished, writing_has_ended=lambda: True) as marker:
        names = [NAMED.format(token=marker.token, n=n) for n in range(3)]
        uncommitted = rows.below(UNCOMMITTED).below(str(attempt_of(marker.token)))
        uncommitted.below("task_202611281200001234567890_0001_m_000000").create()
        for name in names:
            rows.create_file(name, content, overwrite=False)
        with opened(rows, follow_link=True) as place:
            remove(place, lambda path, _: path[0] == UNCOMMITTED, marker.aside)
        rows.create_file("_SUCCESS", "", overwrite=False)
        meanwhile(rows)
        marker.check()
        manifest = json.dumps({"files": dict.fromkeys(names, 1), "content": content})
        rows.create_file(DRAFT, manifest, overwrite=True)
        marker.check()
        rows.write(FILE_NAME, manifest)


def found(fs: FileSystem) -> str | None:
    """Return the content of the dataset, whole; None if there is none."""
    rows = directory(fs, ROWS)
    if not rows.has(FILE_NAME):
        return None
    manifest = json.loads(rows.read(FILE_NAME))
    assert data_files(rows.entries()).keys() == manifest["files"].keys()
    [content] = {rows.read(name) for name in manifest["files"]}
    assert content == manifest["content"]
    return str(content)


def with_one_failure(
    before: str | None, failure: type[BaseException], *, is_object_store: bool
) -> Iterator[FileSystem]:
    """Yield a file system for each change while a dataset is written: there it failed."""
    for step in itertools.count():
        number, after = divmod(step, 2)
        fs = FileSystem(is_object_store=is_object_store)
        if before is not None:
            generate(fs, before)
        fs.failing_at, fs.after, fs.failure = fs.changes + number, bool(after), failure
        with contextlib.suppress(Killed, ClusterliftError):
            generate(fs, "new")
        if fs.changes <= fs.failing_at:
            assert number > 8
            return
        fs.dead, fs.failing_at = False, -1
        yield fs


@of_both_kinds
@pytest.mark.parametrize("before", [None, "before"])
@pytest.mark.parametrize("failure", [Killed, ValueError])
def test_a_kill_and_a_failure_at_any_change_leave_a_whole_dataset_or_none(
    failure: type[BaseException], before: str | None, *, is_object_store: bool
) -> None:
    outcomes = []
    for fs in with_one_failure(before, failure, is_object_store=is_object_store):
        outcomes.append(found(fs))
        if fs.nodes.get(f"{ROWS}/{MARKER}") == "":  # who has created an empty file, nobody can know
            with pytest.raises(
                BadInput, match=r"no whole marker .*: if no process writes there, del"
            ):
                generate(fs, "next")
            directory(fs, ROWS).delete(MARKER)
        generate(fs, "next")
        assert found(fs) == "next"
        assert not directory(fs, ROWS).has(MARKER)
    assert set(outcomes) == {before, None, "new"}
    order = [before, None, "new"]
    assert outcomes == sorted(outcomes, key=order.index)


@of_both_kinds
@pytest.mark.parametrize("error", [ClusterliftError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, "before"])
def test_an_error_and_an_interrupt_leave_nothing(
    before: str | None, error: BaseException, *, is_object_store: bool
) -> None:
    def fail(_: Directory) -> None:
        raise error

    fs = FileSystem(is_object_store=is_object_store)
    if before is not None:
        generate(fs, before)
    with pytest.raises(type(error)):
        generate(fs, "new", meanwhile=fail)
    assert fs.nodes.keys() == {"/", "/data", *([ROWS] if before else [])}


@of_both_kinds
def test_of_two_at_the_same_time_the_later_one_is_refused(*, is_object_store: bool) -> None:
    fs = FileSystem(is_object_store=is_object_store)

    def start_another(rows: Directory) -> None:
        with pytest.raises(BadInput, match=r"is not finished: process \d+ on .* since .*--over"):
            generate(fs, "other", overwrite=False)
        with (
            pytest.raises(BadInput),
            generating(rows, taken_over=None, writing_has_ended=lambda: True),
        ):  # at the same moment
            pass

    generate(fs, "first", meanwhile=start_another)
    assert found(fs) == "first"


@of_both_kinds
@pytest.mark.parametrize("is_finished", [False, True])
def test_one_that_was_taken_over_stops_and_deletes_nothing(
    *, is_finished: bool, is_object_store: bool
) -> None:
    fs = FileSystem(is_object_store=is_object_store)

    def take_over(rows: Directory) -> None:
        if is_finished:
            generate(fs, "other")
        else:
            rows.create_file(MARKER, "another process", overwrite=True)

    with pytest.raises(ClusterliftError, match="another process took over writing fake:/data/rows"):
        generate(fs, "first", meanwhile=take_over)
    if is_finished:
        assert found(fs) == "other"
    else:
        left = directory(fs, ROWS).entries()
        assert left.keys() >= {MARKER}
        assert len([name for name in left if name.startswith("part-")]) == len(PARTS)


@pytest.mark.parametrize("name", ["notes.txt", "_dataset-json", "_incomplete-notes", "part-1.csv"])
@pytest.mark.parametrize("before", [None, "before"])
def test_foreign_files_are_never_deleted(before: str | None, name: str) -> None:
    fs = FileSystem()
    if before is not None:
        generate(fs, before)
    rows = directory(fs, ROWS)
    rows.create()
    rows.create_file(name, "years of work", overwrite=False)
    with pytest.raises(BadInput, match=rf"contains .* \(first: {name}\)"):
        generate(fs, "new")
    assert rows.read(name) == "years of work"


def test_a_directory_with_the_name_of_a_file_of_ours_is_foreign() -> None:
    fs = FileSystem()
    generate(fs, "before")
    directory(fs, ROWS).below(PARTS[0].replace("00000", "00009")).create()
    with pytest.raises(BadInput, match=r"not part of a dataset \(first: part-00009"):
        generate(fs, "new")


def test_files_without_our_marker_are_never_deleted() -> None:
    fs = FileSystem()
    rows = directory(fs, ROWS)
    rows.create()
    rows.create_file(PARTS[0], "of another program", overwrite=False)
    with pytest.raises(BadInput, match="neither a manifest nor the marker"):
        generate(fs, "new")
    assert rows.read(PARTS[0]) == "of another program"


@of_both_kinds
def test_what_a_task_writes_after_its_process_has_failed_is_known_to_the_next_one(
    *, is_object_store: bool
) -> None:
    fs = FileSystem(is_object_store=is_object_store)
    fs.nodes |= {"/data": None}
    rows = directory(fs, ROWS)
    writing = generating(rows, taken_over=None, writing_has_ended=lambda: False)
    with pytest.raises(ClusterliftError), writing as marker:
        raise ClusterliftError("Spark has ended")
    attempt = rows.below(UNCOMMITTED).below(str(attempt_of(marker.token)))
    late = attempt.below("task_202611281200001234567890_0001_m_000000")
    late.create()
    late.create_file(NAMED.format(token=marker.token, n=0), "late", overwrite=False)
    generate(fs, "new")
    assert found(fs) == "new"
    assert not rows.has(UNCOMMITTED)
