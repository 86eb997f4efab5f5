"""Event logs are read where they are: from a History Server, and from stores that are read in pieces."""

import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from zipfile import ZipFile

import pytest

from harness.base.errors import BadInput
from harness.records.event_logs import read_logs
from harness.records.log_choice import Choice
from harness.records.places import history, remote, store
from harness.records.places.webhdfs import webhdfs_options
from tests.unit.records.test_event_logs import DAY_MS, a_log, zstd

Answer = tuple[int, dict[str, str], bytes]
LISTED = "/api/v1/applications"


@contextmanager
def served(answer: Callable[[str], Answer]) -> Iterator[str]:
    """Answer every request for a path and a query in this way; provide the server's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answer(self.path)
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if asked and status == 200:
                start, last = int(asked[1]), min(int(asked[2]), len(body) - 1)
                headers = {**headers, "Content-Range": f"bytes {start}-{last}/{len(body)}"}
                status, body = 206, body[start : last + 1]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


def zipped(lines: Iterable[bytes]) -> bytes:
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("log", b"".join(lines))
    return packed.getvalue()


def an_application(number: int, *attempts: str | None) -> dict[str, object]:
    each = []
    for attempt in attempts or (None,):
        about = {"startTimeEpoch": number * DAY_MS, "completed": attempt != "3", "sparkUser": "me"}
        each.append(about | ({"attemptId": attempt} if attempt else {}))
    return {"id": f"app-{number}", "name": f"nightly-{number}", "attempts": each}


def far_future() -> dict[str, object]:
    """An application whose server has an impossible clock."""
    return an_application(0) | {"attempts": [{"startTimeEpoch": 10**18}]}


APPLICATIONS = [an_application(0), an_application(1, "2", "1", "3"), an_application(2)]
LOGS = {
    f"{LISTED}/app-0/logs": zipped(a_log("app-0")),
    f"{LISTED}/app-1/2/logs": zipped(a_log("app-1", day=1, attempt="2")),
}


def history_server(path: str) -> Answer:
    if path == LISTED:
        return 200, {}, json.dumps(APPLICATIONS).encode()
    if path in LOGS:
        return 200, {}, LOGS[path]
    return 404, {}, b"no such log"


class TestHistoryServer:
    def test_its_applications_are_read_and_the_last_attempt_that_ended_counts(self) -> None:
        with served(history_server) as url:
            logs = read_logs(url)
        ids = [(one.application.id, one.application.attempt) for one in logs.applications]
        assert ids == [("app-0", ""), ("app-1", "2")]
        assert logs.notes == (
            "several attempts; the last one that ended counts: app-1 (attempt 2)",
            "left out (the server answers 404 Not Found): app-2",
        )

    def test_the_logs_of_others_than_the_chosen_are_not_downloaded(self) -> None:
        asked: list[str] = []

        def answer(path: str) -> Answer:
            asked.append(path)
            return history_server(path)

        with served(answer) as url:
            logs = read_logs(f"{url}/", Choice(("*-1",), until_ms=2 * DAY_MS))
        assert asked == [LISTED, f"{LISTED}/app-1/2/logs"]
        assert "not chosen: 2 applications" in logs.notes[1]

    def test_the_page_of_an_application_stands_for_it_also_behind_a_proxy(self) -> None:
        def answer(path: str) -> Answer:
            return history_server(path.removeprefix("/gateway/spark"))

        with served(answer) as url:
            logs = read_logs(f"{url}/gateway/spark/history/app-0/jobs/")
        assert [one.application.id for one in logs.applications] == ["app-0"]

    @pytest.mark.parametrize("path", ["/history", "/history/", "/history/history/app-0/1/jobs/"])
    def test_a_proxy_may_call_the_server_like_its_pages(self, path: str) -> None:
        def answer(path: str) -> Answer:
            assert path.startswith("/history/api/")
            return history_server(path.removeprefix("/history"))

        with served(answer) as url:
            logs = read_logs(f"{url}{path}")
        assert logs.applications[0].application.id == "app-0"

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            (
                (401, {"WWW-Authenticate": "Negotiate"}, b""),
                "wants Kerberos, which clusterlift does not speak: download each log with curl --negotiate",
            ),
            ((401, {"WWW-Authenticate": "Basic realm=x"}, b""), "wants a user and a password"),
            ((302, {"Location": "https://sso/login"}, b""), "leads to https://sso/login"),
            ((200, {}, b"<html>a page</html>"), "is no History Server of Spark"),
            ((200, {}, b"[]"), "has no event logs"),
            ((500, {}, b""), "the server answers 500"),
            ((200, {}, json.dumps([far_future()]).encode()), "no event log that can be read"),
        ],
    )
    def test_a_server_that_cannot_be_asked_is_one_line(self, answer: Answer, problem: str) -> None:
        with served(lambda _: answer) as url, pytest.raises(BadInput, match=problem) as refused:
            read_logs(url.replace("//", "//me:hunter2@"))
        assert "hunter2" not in str(refused.value)

    def test_none_at_all_is_one_line(self) -> None:
        with pytest.raises(
            BadInput, match=r"cannot read http://127\.0\.0\.1:1: Connection refused"
        ):
            read_logs("http://127.0.0.1:1")

    def test_user_and_password_are_sent_and_never_shown(self) -> None:
        server = history.HistoryServer("https://me:hunter2@history:18080/")
        assert server._headers == {"Authorization": "Basic bWU6aHVudGVyMg=="}
        assert server.shown == "https://***@history:18080/"

    def test_one_that_answers_too_slowly_is_not_waited_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(history, "TIMEOUT_S", 0.2)

        def answer(path: str) -> Answer:
            if path == LISTED:
                every = [an_application(number) for number in range(5)]
                return 200, {}, json.dumps(every).encode()
            time.sleep(0.5)
            return 404, {}, b""

        with served(answer) as url, pytest.raises(BadInput) as refused:
            read_logs(url)
        assert "left out (timed out): app-0, app-1, app-2" in str(refused.value)
        assert "not asked for: 3 others came too slowly): app-3, app-4" in str(refused.value)

    def test_one_that_sends_a_few_bytes_now_and_then_is_too_slow(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Dripping(io.BufferedIOBase):
            def read1(self, _: int = -1, /) -> bytes:
                return b"x"

        clock = iter(range(10**6))
        monkeypatch.setattr(time, "monotonic", lambda: next(clock))
        with pytest.raises(TimeoutError, match="less than 10,000 bytes a second"):
            list(history._pieces(Dripping()))


class Memory:
    """A store in memory, and which parts were asked for."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.content = files
        self.parts: list[tuple[int, int]] = []
        self.denied: dict[str, str] = {}

    def files(self, top: str) -> Iterable[tuple[str, int]]:
        found = [path for path in self.content if path.startswith(top)]
        return [(path, len(self.content[path])) for path in found]

    def size(self, path: str) -> int:
        if path not in self.content:
            raise FileNotFoundError(path)
        return len(self.content[path])

    @contextmanager
    def reading(self, path: str) -> Iterator[store.Part]:
        if path not in self.content:
            raise FileNotFoundError(path)

        def part(start: int, stop: int) -> bytes:
            self.parts.append((start, stop))
            return self.content[path][start:stop]

        yield part


def webhdfs_of(files: dict[str, bytes], denied: str) -> Callable[[str], Answer]:
    """Answer as a NameNode that has these files in one directory, and another that nobody may list."""

    def status(name: str, content: bytes | None) -> dict[str, object]:
        type_ = "DIRECTORY" if content is None else "FILE"
        return {"pathSuffix": name, "type": type_, "length": len(content or b"")}

    def answer(asked: str) -> Answer:
        url = urlsplit(asked)
        query = parse_qs(url.query)
        assert query["user.name"] == ["me"]
        name = url.path.removeprefix("/webhdfs/v1/logs").strip("/")
        if query["op"] == ["OPEN"]:
            start = int(query["offset"][0])
            return 200, {}, files[name][start : start + int(query["length"][0])]
        if name == denied:
            said = {"exception": "AccessControlException", "message": "Permission denied: user=me"}
            return 403, {}, json.dumps({"RemoteException": said}).encode()
        if query["op"] == ["LISTSTATUS"]:
            entries = [status(each, content) for each, content in files.items()]
            entries.append(status(denied, None))
            return 200, {}, json.dumps({"FileStatuses": {"FileStatus": entries}}).encode()
        return 200, {}, json.dumps({"FileStatus": status("", files.get(name))}).encode()

    return answer


def test_hdfs_is_asked_by_webhdfs_and_a_directory_that_is_denied_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.setenv("HADOOP_USER_NAME", "me")
    files = {"app-1.zstd": zstd(b"".join(a_log("app-1"))), "app-2": b"".join(a_log("app-2", day=1))}
    with served(webhdfs_of(files, "private")) as url:
        logs = read_logs(f"{url.replace('http', 'webhdfs')}/logs")
    assert [one.application.id for one in logs.applications] == ["app-1", "app-2"]
    [note] = logs.notes
    assert re.fullmatch(r"left out \(.*Permission denied: user=me.*\): private", note)


class TestStores:
    def test_files_are_listed_by_their_paths_below_the_place(self) -> None:
        names = ["bucket/logs/app-1", "bucket/logs/v2/events_1_a", "bucket/logs/.app-1.crc"]
        memory = Memory(dict.fromkeys(names, b"x"))
        listing = store.listed(memory, "bucket/logs/", "s3://bucket/logs/")
        assert [file.path for file in listing.files] == ["app-1", "v2/events_1_a"]
        [one] = store.listed(memory, "bucket/logs/app-1", "s3://bucket/logs/app-1").files
        assert one.path == "app-1"

    def test_the_first_piece_is_small_and_every_byte_comes_once(self) -> None:
        content = bytes(range(256)) * 4_000
        memory = Memory({"a": content})
        [file] = store.listed(memory, "a", "x://a").files
        with file.open() as opened:
            found = b"".join(iter(lambda: opened.file.read(10_000), b""))
        assert found == content
        assert memory.parts[0] == (0, 65_536)
        assert [stop for _, stop in memory.parts[:-1]] == [start for start, _ in memory.parts[1:]]

    def test_an_archive_is_read_from_its_end(self) -> None:
        packed = zipped(a_log("app-1"))
        memory = Memory({"logs/a.zip": packed, "logs/b": b"".join(a_log("app-2", day=1))})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote, "_stores", lambda _: [(memory, "logs")])
            logs = read_logs("s3://logs")
        assert [one.application.id for one in logs.applications] == ["app-1", "app-2"]

    def test_a_log_that_is_renamed_or_gone_meanwhile(self) -> None:
        memory = Memory({"logs/a.inprogress": b"x", "logs/b": b"x"})
        renamed, gone = store.listed(memory, "logs", "x://logs").files
        memory.content = {"logs/a": b"longer"}
        with renamed.open() as opened:
            assert opened.file.read() == b"longer"
        with pytest.raises(ValueError, match="logs/b"), gone.open():
            pass

    @pytest.mark.parametrize(
        ("url", "problem"),
        [
            ("nosuch://bucket/logs", "nosuch:// cannot be read: Protocol not known: nosuch"),
            (
                "webhdfs://127.0.0.1:1/logs",
                "cannot read webhdfs://127.0.0.1:1/logs: .*refused.*check",
            ),
            ("webhdfs://[::1]:1/logs", r"cannot read webhdfs://\[::1\]:1/logs: .*check"),
            ("webhdfs://nn:98x0/logs", "nn:98x0 is no HOST:PORT of HDFS: Port could not be"),
            ("hdfs://nn:99999/logs", "nn:99999 is no HOST:PORT of HDFS: Port out of range"),
            ("webhdfs://:9870/logs", ":9870 is no HOST:PORT of HDFS: it has no host"),
            ("hdfs:///logs", "has no host; write hdfs://HOST/PATH, or set HADOOP_CONF_DIR"),
            (
                "s3://AK:hunter2@bucket/logs",
                "s3:// is read with the credentials that its own tools",
            ),
            ("hdfs://me:hunter2@nn/logs", "leave out what stands before @"),
            ("http://[::1/", "is no URL: Invalid IPv6 URL"),
            ("hdfs:/logs", "hdfs:/logs is no URL: write hdfs:// with two slashes"),
            ("S3A:bucket/logs", "write s3a:// with two slashes"),
            ("file://node1/logs", "files of node1 are not read; .* or name file:/logs"),
        ],
    )
    def test_a_place_that_cannot_be_reached_is_one_line(
        self, url: str, problem: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
        with pytest.raises(BadInput, match=problem) as refused:
            read_logs(url)
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("start", ["", "file:", "FILE:", "file://", "file://localhost"])
def test_a_directory_of_this_machine_may_be_written_as_hadoop_writes_it(
    start: str, tmp_path: Path
) -> None:
    directory = tmp_path / "spark logs"
    directory.mkdir()
    (directory / "app-1").write_bytes(b"".join(a_log()))
    path = str(directory)
    if start:
        path = quote(path)
    assert len(read_logs(f"{start}{path}").applications) == 1


HADOOP = {
    "core-site.xml": {
        "fs.defaultFS": "hdfs://cluster",
        "hadoop.security.authentication": "kerberos",
    },
    "hdfs-site.xml": {
        "dfs.ha.namenodes.cluster": "nn1,nn2",
        "dfs.namenode.http-address.cluster.nn1": "one:9870",
        "dfs.namenode.http-address.cluster.nn2": "two:9871",
        "dfs.namenode.rpc-address": "single:8020",
        "dfs.namenode.http-address": "single:5000",
    },
}


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("hdfs://cluster/logs", [("one", 9870), ("two", 9871)]),
        ("hdfs:///logs", [("one", 9870), ("two", 9871)]),
        ("hdfs://single:8020/logs", [("single", 5000)]),
        ("hdfs://other:8020/logs", [("other", 9870)]),
        ("webhdfs://other:8020/logs", [("other", 8020)]),
        ("webhdfs://[fd00::5]:9871/logs", [("[fd00::5]", 9871)]),
        ("webhdfs://[fd00::5]/logs", [("[fd00::5]", 9870)]),
        ("hdfs://[fd00::5]:8020/logs", [("[fd00::5]", 9870)]),
    ],
)
def test_hadoop_s_configuration_says_where_hdfs_answers_in_http(
    url: str, addresses: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, properties in HADOOP.items():
        lines = [
            f"<property><name>{key}</name><value>{value}</value></property>"
            for key, value in properties.items()
        ]
        (tmp_path / name).write_text(f"<configuration>{''.join(lines)}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    scheme, _, rest = url.partition("://")
    found = list(webhdfs_options(scheme, rest))
    assert [(each["host"], each["port"]) for each in found] == addresses
    assert all(each["kerberos"] for each in found)


@pytest.mark.parametrize("error", [KeyError("uid not found: 1000650000"), OSError("no name")])
def test_a_user_without_a_name_has_to_give_one(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose user is a random number."""

    def refuse() -> str:
        raise error

    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_USER_NAME", raising=False)
    monkeypatch.setattr("getpass.getuser", refuse)
    with pytest.raises(BadInput, match=r"user [0-9]+ has no name here: set HADOOP_USER_NAME"):
        list(webhdfs_options("hdfs", "nn/logs"))
    monkeypatch.setenv("HADOOP_USER_NAME", "me")
    assert [each["user"] for each in webhdfs_options("hdfs", "nn/logs")] == ["me"]
