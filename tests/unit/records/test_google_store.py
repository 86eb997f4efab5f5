"""Event logs are read from Google's store, as its own protocol has them.

The client runs in a process of its own: it holds Python's lock while it waits for a server.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from harness.base.errors import BadInput
from harness.records.event_logs import read_logs
from harness.records.places.google import reason_in
from tests.unit.records.test_event_logs import a_log, zstd
from tests.unit.records.test_places import Answer, served

_BUCKETS = "/storage/v1/b/"
Ended: TypeAlias = "subprocess.CompletedProcess[str]"
Compare = Callable[..., Ended]


def refused(status: int, message: str) -> Answer:
    return status, {}, json.dumps({"error": {"code": status, "message": message}}).encode()


def google_store(files: dict[str, bytes], most_listed: int = 2) -> Callable[[str], Answer]:
    """Answer as a store with these files in `bucket`, and a bucket `private` that nobody may list."""

    def described(name: str) -> dict[str, object]:
        return {
            "kind": "storage#object",
            "bucket": "bucket",
            "name": name,
            "size": str(len(files[name])),
            "generation": "1",
        }

    def listed(prefix: str, start: int) -> Answer:
        found = [described(name) for name in sorted(files) if name.startswith(prefix)]
        page = {"kind": "storage#objects", "items": found[start : start + most_listed]}
        if len(found) > start + most_listed:
            page["nextPageToken"] = str(start + most_listed)
        return 200, {}, json.dumps(page).encode()

    def answer(asked: str) -> Answer:
        url = urlsplit(asked)
        query = parse_qs(url.query)
        bucket, _, place = url.path.removeprefix(_BUCKETS).partition("/o")
        if bucket == "private":
            return refused(403, "me@example.com does not have storage.objects.list access.")
        if bucket != "bucket":
            return refused(404, "The specified bucket does not exist.")
        if not place:
            prefix = query.get("prefix", [""])[0]
            return listed(prefix, int(query.get("pageToken", ["0"])[0]))
        name = unquote(place.removeprefix("/"))
        if name not in files:
            return refused(404, f"No such object: bucket/{name}")
        if query.get("alt") == ["media"]:
            return 200, {}, files[name]
        return 200, {}, json.dumps(described(name)).encode()

    return answer


def log_of(day: int, wall_ms: int) -> bytes:
    return b"".join(a_log(f"app-{day}", day=day, wall_ms=wall_ms))


FILES = {
    **{f"before/app-{day}.zstd": zstd(log_of(day, 4_000 + day)) for day in range(4)},
    **{f"after/cluster 1/app-{day}": log_of(day, 2_000 + day) for day in range(10, 14)},
    "after/.app-10.crc": b"checksum",
    "after/notes.txt": b"no log\n",
}


@pytest.fixture
def compare() -> Iterator[Compare]:
    """`clusterlift compare --event-logs` of places in that store."""
    with served(google_store(FILES)) as url:

        def run(*places: str) -> Ended:
            return subprocess.run(
                [sys.executable, "-m", "clusterlift", "compare", "--event-logs", *places],
                env={**os.environ, "STORAGE_EMULATOR_HOST": url},
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
            )

        yield run


def test_both_sides_are_read_at_any_depth_and_page_by_page(
    compare: Compare,
) -> None:
    ended = compare("gs://bucket/before/", "gcs://bucket/after")
    assert (ended.stderr, ended.returncode) == ("", 0)
    [load] = [line for line in ended.stdout.splitlines() if line.lstrip().startswith("load")]
    assert "4.00 s" in load
    assert "2.01 s" in load
    assert "left out (no event log of Spark): notes.txt" in ended.stdout


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (
            "gs://nowhere/logs",
            "cannot read gs://nowhere/logs: The specified bucket does not exist;",
        ),
        ("gs://bucket/none", "cannot read gs://bucket/none: No such file or directory"),
        (
            "gs://private",
            "cannot read gs://private: me@example.com does not have storage.objects.list",
        ),
    ],
)
def test_a_place_that_cannot_be_listed_is_one_line(
    place: str, problem: str, compare: Compare
) -> None:
    ended = compare(place, "gs://bucket/after")
    assert (ended.returncode, ended.stdout) == (2, "")
    [line] = ended.stderr.splitlines()
    assert problem in line
    assert "check the address, and whether your credentials are valid" in line


def wrapped(said: str) -> str:
    """An error as Google's client words it."""
    return (
        "[Errno 13] google::cloud::Status(PERMISSION_DENIED: Permanent error, with a last message of "
        f"{said} error_info={{reason=, metadata={{gcloud-cpp.retry.original-message={said}}}}}). "
        "Detail: [errno 13] Permission denied"
    )


WITHOUT_ACCESS = (
    "Could not create a OAuth2 access token to authenticate the request. The request was not sent, as such "
    "an access token is required to complete the request successfully. Learn more about Google Cloud "
    "authentication at https://cloud.google.com/docs/authentication. The underlying error message was: "
)
EXPIRED = '{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}'
NO_CREDENTIALS = "PerformWork() - CURL error [6]=Could not resolve hostname"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"error": {"code": 401, "message": "Invalid Credentials"}}', "Invalid Credentials"),
        (
            WITHOUT_ACCESS + EXPIRED,
            "no access token: Token has been expired or revoked; gcloud auth",
        ),
        (WITHOUT_ACCESS + NO_CREDENTIALS, f"no access token: {NO_CREDENTIALS}; gcloud auth"),
        (
            WITHOUT_ACCESS + "Cannot open /key.json",
            "no access token: Cannot open /key.json; gcloud",
        ),
        ("<html>proxy</html>", "<html>proxy</html>"),
        ('{"error": "strange"}', '{"error": "strange"}'),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_the_reason_stands_without_its_wrapping(said: str, reason: str) -> None:
    assert reason_in(wrapped(said)).startswith(reason)
    assert "\n" not in reason_in(wrapped(said))


def test_an_error_of_another_form_stands_as_it_is() -> None:
    assert reason_in("No such file or directory 'bucket/none'") == (
        "No such file or directory 'bucket/none'"
    )


def test_without_arrow_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"gs:// needs pyarrow \(.*\): install .* \[logs\]"):
        read_logs("gs://bucket/logs")
