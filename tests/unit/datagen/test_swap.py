"""Wherever generate.py ends, there is the former dataset or the new one, and the next one can start."""

import contextlib
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator

import pytest

from datagen.dataset import uri_of
from datagen.filesystem import Directory
from datagen.generations import CURRENT, place_of
from datagen.manifest import FILE_NAME
from datagen.observed_layout import StoredFiles
from datagen.storage import Storage
from datagen.swap import Interrupted, Place, SwapRefused
from datagen.write_lock import Owner
from harness.model.errors import BadInput, ClusterliftError
from harness.model.layout import Layout
from harness.node.sampler import start_time

from .fake_hadoop import FileSystem, Killed, directory

ROWS = "/data/rows"
PARTS = [f"part-0000{n}-00000000-0000-0000-0000-000000000000-c000.csv" for n in range(3)]


class FakeStorage(Storage):
    name = "fake"
    scheme = "fake"

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        return layout

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        return StoredFiles({})


class FakeObjectStore(FakeStorage):
    renames = False


def object_store() -> FileSystem:
    return FileSystem(is_object_store=True)


of_both_kinds = pytest.mark.parametrize("new_fs", [FileSystem, object_store])
"""File systems that rename directories in one step, and those that do not."""


def place_in(fs: FileSystem, path: str = ROWS) -> Place:
    return place_of(directory(fs, path), FakeObjectStore() if fs.is_object_store else FakeStorage())


def generate(fs: FileSystem, content: str, path: str = ROWS, *, overwrite: bool = True) -> None:
    """Write a dataset each of whose files has this content."""
    write(place_in(fs, path), content, overwrite=overwrite)


def write(place: Place, content: str, *, overwrite: bool = True) -> None:
    with place.writing(overwrite=overwrite, replace_half_written=False) as new:
        for name in PARTS:
            new.create_new(name, content)
        new.write(FILE_NAME, content)


def found(fs: FileSystem) -> str | None:
    """Return the content of the dataset whoever opens it finds, whole; None if there is none."""
    place = place_in(fs)
    place.recover()
    if not place.exists():
        return None
    files = place.current() or place.directory
    names = set(files.entries())
    assert names == {*PARTS, FILE_NAME}
    [content] = {files.read(name) for name in names}
    return content


def beside(fs: FileSystem) -> set[str]:
    """Return what is beside the dataset, and beside its current generation."""
    data, place = directory(fs, "/data"), place_in(fs)
    names = set(data.entries()) - {"rows"} if data.exists() else set()
    if place.directory.exists() and (current := place.current()):
        names |= set(place.directory.entries()) - {CURRENT, current.name}
    return names


def generate_and(fs: FileSystem, meanwhile: Callable[[Directory], object]) -> None:
    """Write a dataset without files, while something else happens."""
    with place_in(fs).writing(overwrite=True, replace_half_written=False) as new:
        meanwhile(new)
        new.write(FILE_NAME, "new")


def failing(error: BaseException) -> Callable[[Directory], None]:
    def fail(new: Directory) -> None:
        new.create_new(PARTS[0], "half")
        raise error

    return fail


@pytest.fixture
def killed_processes_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests are one process; each dataset would be written by another one."""
    monkeypatch.setattr(Owner, "has_ended", lambda _: True)


def with_one_failure(
    before: str | None,
    failure: type[BaseException],
    new_fs: Callable[[], FileSystem] = FileSystem,
) -> Iterator[tuple[FileSystem, BaseException]]:
    """Yield a file system for each change while a dataset is written: there it failed."""
    for step in itertools.count():
        number, after = divmod(step, 2)
        fs = new_fs()
        if before is not None:
            generate(fs, before)
        fs.failing_at, fs.after, fs.failure = fs.changes + number, bool(after), failure
        try:
            generate(fs, "new")
        except (Killed, ClusterliftError) as error:
            reached: BaseException | None = error
        else:
            reached = None
        if fs.changes <= fs.failing_at:
            assert number > 10
            return
        fs.dead, fs.failing_at = False, -1
        yield fs, reached or AssertionError("the failure was ignored")


@pytest.mark.usefixtures("killed_processes_have_ended")
@pytest.mark.parametrize("before", [None, "before"])
@of_both_kinds
def test_a_kill_at_any_moment_leaves_one_whole_dataset(
    before: str | None, new_fs: Callable[[], FileSystem]
) -> None:
    outcomes = []
    for fs, _ in with_one_failure(before, Killed, new_fs):
        outcomes.append(found(fs))
        generate(fs, "next", overwrite=outcomes[-1] is not None)
        assert found(fs) == "next"
        assert not beside(fs)
    assert set(outcomes) == {before, "new"}
    assert outcomes == sorted(outcomes, key=lambda outcome: outcome == "new")


@pytest.mark.usefixtures("killed_processes_have_ended")
def test_a_kill_while_a_reader_finishes_the_swap_leaves_one_whole_dataset() -> None:
    for fs, _ in with_one_failure("before", Killed):
        if not directory(fs, ROWS).exists():
            break
    cut_off = dict(fs.nodes)
    for number, after in itertools.product(range(12), (False, True)):
        fs = FileSystem(dict(cut_off), number, after)
        try:
            found(fs)
        except Killed:
            fs.dead, fs.failing_at = False, -1
        assert found(fs) == "new"


@pytest.mark.usefixtures("killed_processes_have_ended")
@pytest.mark.parametrize("before", [None, "before"])
@of_both_kinds
def test_a_failed_change_leaves_one_whole_dataset(
    before: str | None, new_fs: Callable[[], FileSystem]
) -> None:
    """A full disk, for example. The lock stays only where the failed change was to delete it."""
    locks = 0
    for fs, error in with_one_failure(before, ValueError, new_fs):
        assert "\n" not in str(error)
        locks += ".rows.generating" in beside(fs)
        assert locks <= 1
        assert found(fs) in {before, "new"}
        generate(fs, "next", overwrite=found(fs) is not None)
        assert found(fs) == "next"
        assert not beside(fs)


@of_both_kinds
def test_a_failure_while_writing_leaves_nothing_of_the_new_dataset(
    new_fs: Callable[[], FileSystem],
) -> None:
    fs = new_fs()
    generate(fs, "before")
    with pytest.raises(
        ClusterliftError, match=f"^disk full; fake:{ROWS} is as it was before$"
    ) as failed:
        generate_and(fs, failing(ClusterliftError("disk full")))
    assert failed.value.exit_code == 1
    assert found(fs) == "before"
    assert not beside(fs)


@pytest.mark.parametrize(
    ("before", "remains"),
    [("before", f"fake:{ROWS} is as it was before"), (None, "nothing is left")],
)
@of_both_kinds
def test_an_interrupt_says_what_remains(
    before: str | None, remains: str, new_fs: Callable[[], FileSystem]
) -> None:
    fs = new_fs()
    if before is not None:
        generate(fs, before)
    with pytest.raises(Interrupted, match=f"^interrupted; {remains}") as interrupted:
        generate_and(fs, failing(KeyboardInterrupt()))
    assert interrupted.value.exit_code == 130
    assert found(fs) == before
    assert not beside(fs)


@pytest.mark.parametrize("before", [None, "before"])
def test_a_reader_may_finish_the_swap_of_a_process_that_runs(before: str | None) -> None:
    fs = FileSystem()
    if before is not None:
        generate(fs, before)

    class ReadInBetween(FakeStorage):
        def rename(self, directory: Directory, new: Directory) -> None:
            if directory.name == ".rows.new":
                assert found(fs) == "new"
            super().rename(directory, new)

    place = Place(directory(fs, ROWS), ReadInBetween())
    with place.writing(overwrite=True, replace_half_written=False) as new:
        for name in (*PARTS, FILE_NAME):
            new.create_new(name, "new")
    assert found(fs) == "new"
    assert not beside(fs)


# A file system that does not rename directories.


def test_where_directories_cannot_be_renamed_both_datasets_remain_and_a_line_says_so() -> None:
    fs = FileSystem()
    generate(fs, "before")
    fs.renames_directories = False
    with pytest.raises(
        SwapRefused,
        match=rf"^fake:{ROWS} is as it was before, because it cannot be renamed: .*; the new dataset "
        r"is complete in fake:/data/\.rows\.new: .*by hand",
    ):
        generate(fs, "new")
    assert found(fs) == "before"
    assert beside(fs) == {".rows.new"}
    fs.renames_directories = True
    generate(fs, "next")
    assert found(fs) == "next"
    assert not beside(fs)


def test_where_directories_cannot_be_renamed_a_first_dataset_is_found_beside_its_place() -> None:
    fs = FileSystem(renames_directories=False)
    with pytest.raises(SwapRefused, match=r"the new dataset is complete in fake:/data/\.rows\.new"):
        generate(fs, "new")
    with pytest.raises(BadInput, match=r"dataset is in fake:/data/\.rows\.new: rename that to"):
        found(fs)
    fs.renames_directories = True
    assert found(fs) == "new"


@pytest.mark.parametrize("refuses", [False, True])
def test_an_interrupt_of_the_swap_reports_how_it_ended(refuses: bool) -> None:  # noqa: FBT001
    fs = FileSystem()
    generate(fs, "before")

    class SignalledWhileRenaming(FakeStorage):
        def rename(self, directory: Directory, new: Directory) -> None:
            signal.raise_signal(signal.SIGINT)
            fs.renames_directories = not refuses
            super().rename(directory, new)

    place = Place(directory(fs, ROWS), SignalledWhileRenaming())
    ending = f"fake:{ROWS} is as it was before" if refuses else f"fake:{ROWS} is complete"
    with pytest.raises(Interrupted, match=f"^interrupted(; |, but ){ending}"):
        write(place, "new")
    assert found(fs) == ("before" if refuses else "new")


# Generations, where no directory can be renamed.


def test_a_reader_finds_the_former_generation_until_the_new_one_is_named() -> None:
    fs = object_store()
    generate(fs, "before")
    generate_and(fs, lambda _: None if found(fs) == "before" else pytest.fail("half a dataset"))
    assert set(place_in(fs).current().entries()) == {FILE_NAME}  # type: ignore[union-attr]


def test_a_request_whose_answer_is_lost_has_been_executed() -> None:
    fs = object_store()
    generate(fs, "before")
    for number in itertools.count():
        fs.failing_at, fs.after, fs.failure = fs.changes + number, True, ValueError
        with contextlib.suppress(ClusterliftError):
            generate(fs, "new")
        fs.failing_at = -1
        if found(fs) == "new":
            break
    assert beside(fs) == set()


def test_a_file_that_names_no_generation_is_refused_and_replaced_by_overwrite() -> None:
    fs = object_store()
    generate(fs, "before")
    fs.nodes[f"{ROWS}/{CURRENT}"] = "../other"
    with pytest.raises(
        BadInput, match=f"{ROWS}/{CURRENT} does not name a generation of the dataset"
    ):
        found(fs)
    with pytest.raises(BadInput, match="is a dataset already; --overwrite"):
        generate(fs, "new", overwrite=False)
    generate(fs, "new")
    assert found(fs) == "new"
    assert not beside(fs)


def test_a_dataset_that_was_copied_to_an_object_store_is_found_and_replaced() -> None:
    fs = object_store()
    copied = directory(fs, ROWS)
    copied.create()
    for name in (*PARTS, FILE_NAME):
        copied.create_new(name, "copied")
    assert found(fs) == "copied"
    with pytest.raises(BadInput, match="is a dataset already; --overwrite"):
        generate(fs, "new", overwrite=False)
    generate(fs, "new")
    assert found(fs) == "new"
    assert not beside(fs)


# Foreign files, locks and other datasets.


@pytest.mark.parametrize("name", [".rows.new", ".rows.former"])
def test_foreign_files_beside_the_dataset_are_never_deleted(name: str) -> None:
    fs = FileSystem()
    thesis = directory(fs, f"/data/{name}")
    thesis.create()
    thesis.create_new("thesis.tex", "years of work")
    with pytest.raises(BadInput, match=r"not part of a dataset \(first: thesis.tex\)"):
        generate(fs, "new")
    assert beside(fs) == {name}
    assert thesis.read("thesis.tex") == "years of work"


@of_both_kinds
@pytest.mark.parametrize("name", ["notes.txt", "_dataset-json", "_incomplete-notes"])
def test_a_foreign_file_that_appears_meanwhile_is_kept(
    name: str, new_fs: Callable[[], FileSystem]
) -> None:
    fs = new_fs()
    generate(fs, "before")
    with pytest.raises(SwapRefused, match=f"first: {name}"):
        generate_and(fs, lambda _: directory(fs, ROWS).create_new(name, "keep"))
    assert directory(fs, ROWS).read(name) == "keep"


@of_both_kinds
def test_two_processes_at_the_same_time_are_excluded(new_fs: Callable[[], FileSystem]) -> None:
    fs = new_fs()
    with place_in(fs).writing(overwrite=True, replace_half_written=False) as new:
        with pytest.raises(
            BadInput, match=rf"^fake:{ROWS} is being generated by process {os.getpid()} on .*; wait"
        ):
            generate(fs, "other")
        for name in PARTS:
            new.create_new(name, "first")
        new.write(FILE_NAME, "first")
    assert found(fs) == "first"


@of_both_kinds
def test_a_process_that_lost_its_lock_stops_and_deletes_nothing(
    new_fs: Callable[[], FileSystem],
) -> None:
    """On another machine, the user took its dataset over with --overwrite."""
    fs = new_fs()
    generate(fs, "before")
    other = dataclasses.replace(Owner(), machine="another").to_json()
    with pytest.raises(ClusterliftError, match=r"another process took over .* wait until that one"):
        generate_and(fs, lambda _: fs.nodes.update({"/data/.rows.generating": other}))
    assert found(fs) == "before"
    assert len(beside(fs)) == 2
    assert ".rows.generating" in beside(fs)
    with pytest.raises(BadInput, match=r"is a dataset already; --overwrite"):
        generate(fs, "next", overwrite=False)
    generate(fs, "next")
    assert found(fs) == "next"
    assert not beside(fs)


def test_only_overwrite_starts_again_where_another_machine_may_be_at_work() -> None:
    fs = FileSystem()
    owner = dataclasses.replace(Owner(), machine="another", host="far")
    directory(fs, "/data").create()
    fs.nodes["/data/.rows.generating"] = owner.to_json()
    with pytest.raises(BadInput, match=r"by process \d+ on far, since .* with --overwrite"):
        generate(fs, "new", overwrite=False)
    generate(fs, "new")
    assert found(fs) == "new"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "5"}', "[" * 100_000, '{"token": 1}'])
def test_a_lock_that_names_no_process_does_not_exclude(text: str) -> None:
    fs = FileSystem()
    directory(fs, "/data").create()
    fs.nodes["/data/.rows.generating"] = text
    generate(fs, "new", overwrite=False)
    assert not beside(fs)


@pytest.mark.parametrize("path", [f"{ROWS}/inner", f"{ROWS}/a/b", f"{ROWS}/_temporary"])
@of_both_kinds
def test_a_dataset_inside_another_one_is_refused(
    path: str, new_fs: Callable[[], FileSystem]
) -> None:
    fs = new_fs()
    generate(fs, "outer")
    with pytest.raises(BadInput, match=rf"is inside the dataset fake:{ROWS}"):
        generate(fs, "inner", path)
    assert found(fs) == "outer"


@pytest.mark.parametrize(
    "path", [f"{ROWS}/inner", "/data/.rows.new/inner", "/data/.rows.former/a/b"]
)
def test_a_dataset_inside_one_that_is_being_generated_is_refused(path: str) -> None:
    fs = FileSystem()
    with place_in(fs).writing(overwrite=True, replace_half_written=False) as new:
        with pytest.raises(BadInput, match="is being generated"):
            generate(fs, "inner", path)
        new.write(FILE_NAME, "outer")


@pytest.mark.parametrize("path", ["/", "/data"])
@of_both_kinds
def test_a_dataset_around_another_one_is_refused(
    path: str, new_fs: Callable[[], FileSystem]
) -> None:
    fs = new_fs()
    generate(fs, "inner")
    with pytest.raises(BadInput, match=r"root directory|not part of a dataset \(first: rows\)"):
        generate(fs, "outer", path)
    assert found(fs) == "inner"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_generation_that_was_copied_from_an_object_store_is_a_dataset(*, overwrite: bool) -> None:
    fs, copied = FileSystem(), f"{ROWS}/generation-0123456789abcdef"
    generate(fs, "copied", copied)
    with pytest.raises(BadInput, match=r"not part of a dataset \(first: generation-"):
        generate(fs, "new", overwrite=overwrite)
    assert directory(fs, copied).read(FILE_NAME) == "copied"
    assert uri_of(directory(fs, copied), FakeStorage()) == f"fake:{copied}"
    assert uri_of(directory(fs, copied), FakeObjectStore()) == f"fake:{ROWS}"


@pytest.mark.parametrize("name", [".rows.new", ".rows.former", ".rows.generating"])
def test_the_names_beside_a_dataset_are_reserved(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name.replace('.', '[.]')} is reserved"):
        generate(FileSystem(), "new", f"/data/{name}")


def test_the_owner_of_a_lock_has_ended_when_its_process_has() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(pid=process.pid, start_ticks=start_time(process.pid) or "")
    assert Owner.parse(owner.to_json()) == owner
    assert owner.has_ended() is False
    process.communicate()
    assert owner.has_ended() is True
    assert Owner(start_ticks="5").has_ended() is True  # the id belongs to another process by now
    assert Owner(machine="another").has_ended() is None
    assert json.loads(owner.to_json())["pid"] == process.pid


def test_another_process_may_have_the_id_of_an_owner_and_a_name_that_is_no_text() -> None:
    program = (
        "import ctypes, sys; ctypes.CDLL(None).prctl(15, b'\\xff\\xfe'); print(flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()  # it has its name
    assert Owner(pid=process.pid, start_ticks="5").has_ended() is True
    process.communicate(b"\n")
