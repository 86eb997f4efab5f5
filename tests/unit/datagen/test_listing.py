"""What Hadoop prints of files is compared: lengths and times of change, and not when they were read."""

import pytest

from datagen.filesystem import listed


def status(name: str, length: int = 5, changed: int = 7, read: int = 9, kind: str = "") -> str:
    return (
        f"{kind}FileStatus{{path=file:/rows/{name}; isDirectory=false; length={length}; replication=1; "
        f"blocksize=3; modification_time={changed}; access_time={read}; owner=; group=; isSymlink=false}}"
    )


def printed(*statuses: str) -> list[str]:
    return listed(f"Array({', '.join(statuses)})")


BEFORE = printed(status("a"), status("b"), status("c"))


@pytest.mark.parametrize("kind", ["", "DeprecatedRawLocal", "HdfsNamed", "S3A"])
def test_the_same_files_are_the_same_in_any_order(kind: str) -> None:
    files = [status(name, kind=kind) for name in "abc"]
    again = [status(name, read=8, kind=kind) for name in "cab"]
    assert printed(*files) == printed(*again) == BEFORE


@pytest.mark.parametrize(
    "others",
    [
        [status("a", length=6), status("b"), status("c")],
        [status("a"), status("b", changed=8), status("c")],
        [status("a"), status("b")],
        [status("a"), status("b"), status("c"), status("d")],
        [status("a"), status("b"), status("d")],
        [],
    ],
    ids=["a length", "a time", "one is gone", "one more", "another name", "none"],
)
def test_files_that_differ_are_different(others: list[str]) -> None:
    assert printed(*others) != BEFORE
