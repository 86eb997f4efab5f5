"""Answers recorded from a metaserver of QFS 2.2.8 are read; anything else is an error."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from datagen.storage.metaserver import CHUNK_BYTES, Metaserver

PING = (
    "OK\r\nCseq: 1\r\nStatus: 0\r\nBuild-version: 2.2.8\r\nWORM: 0\r\n"
    "System Info: Up since= Sat Nov 21 17:37:43 2026\tChunk srvs= 2\t\r\n"
    "Servers: s=127.0.0.1, p=22001, rack=1, used=0, connected=1\t"
    "s=127.0.0.1, p=22002, rack=1, used=0, connected=1\t\r\n"
    "Down Servers: s=127.0.0.1, p=22003, down=Sat Nov 21 17:17:08 2026, reason=error\t\r\n\r\n"
)
LAYOUT = "0 84 1 1 127.0.0.1 22001 67108864 85 1 0 134217728 86 1 2 127.0.0.1 22001 10.0.0.7 22002"
DIRECTORIES = "Avg-read-io-bytes,Buffered-io,Chunks\n0,{},9\n0,{},11\n"


def answer(body: str, *headers: str) -> str:
    return "\r\n".join(["OK", "Status: 0", *headers, f"Content-length: {len(body)}", "", body])


@contextmanager
def metaserver(reply: Callable[[dict[str, str]], str]) -> Iterator[Metaserver]:
    """Yield a connection to a server that replies to each request, and closes it for an empty reply."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while operation := self.rfile.readline().decode().strip():
                lines = iter(lambda: self.rfile.readline().decode().strip(), "")
                fields = dict(line.split(": ", 1) for line in lines)
                text = reply({"operation": operation, **fields})
                if not text:
                    return
                self.wfile.write(text.encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Metaserver(*server.server_address) as connected:
                yield connected
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("reply", "count"), [(PING, 2), ("OK\r\nStatus: 0\r\nServers: \r\n\r\n", 0)]
)
def test_only_connected_servers_are_counted(reply: str, count: int) -> None:
    with metaserver(lambda _: reply) as connected:
        assert connected.servers_up() == count


def test_each_chunk_has_its_servers() -> None:
    with metaserver(lambda _: answer(LAYOUT)) as connected:
        assert connected.holders(64) == {
            0: ["127.0.0.1:22001"],
            1: [],
            2: ["127.0.0.1:22001", "10.0.0.7:22002"],
        }


def test_the_chunks_of_a_long_file_are_requested_in_parts() -> None:
    requests = []

    def reply(request: dict[str, str]) -> str:
        requests.append((request["operation"], request["File-handle"], request["Start-offset"]))
        start = int(request["Start-offset"])
        chunk = f"{start} 84 1 1 127.0.0.1 22001"
        return answer(chunk, "Has-more-chunks:  1") if start < CHUNK_BYTES else answer(chunk)

    with metaserver(reply) as connected:
        assert list(connected.holders(64)) == [0, 1]
    assert requests == [("GETLAYOUT", "64", "0"), ("GETLAYOUT", "64", str(CHUNK_BYTES))]


@pytest.mark.parametrize(
    ("values", "expected"), [((0, 0), False), ((1, 1), True), ((0, 1), None)], ids=str
)
def test_whether_the_page_cache_is_used_is_known_if_all_servers_agree(
    values: tuple[int, int],
    expected: bool | None,  # noqa: FBT001  three values
) -> None:
    with metaserver(lambda _: answer(DIRECTORIES.format(*values))) as connected:
        assert connected.buffered_io() is expected


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (
            "FAILED\r\nCseq: 1\r\nStatus: -1\r\nStatus-message: authentication required\r\n\r\n",
            "authentication required",
        ),
        ("", "it closed the connection"),
    ],
)
def test_a_refusal_and_a_closed_connection_are_errors(reply: str, reason: str) -> None:
    with metaserver(lambda _: reply) as connected, pytest.raises(OSError, match=reason):
        connected.servers_up()


@pytest.mark.parametrize("length", [-1, 10**12, 10**30])
def test_an_answer_of_an_impossible_length_is_not_waited_for(length: int) -> None:
    reply = f"OK\r\nStatus: 0\r\nContent-length: {length}\r\n\r\n"
    with (
        metaserver(lambda _: reply) as connected,
        pytest.raises(ValueError, match=f"it announces an answer of {length:,} bytes"),
    ):
        connected.servers_up()


@pytest.mark.parametrize(
    "body",
    [
        "0 84 1",
        "0 84 1 -1",
        "0 84 1 2 127.0.0.1 22001",
        "0 84 1 1 127.0.0.1",
        "0 84 1 1000000000000000000000 127.0.0.1 22001",
        f"{LAYOUT} 201326592",
    ],
)
def test_chunks_that_lack_words_are_an_error(body: str) -> None:
    with metaserver(lambda _: answer(body)) as connected, pytest.raises(ValueError):  # noqa: PT011
        connected.holders(64)


def test_an_answer_with_very_many_chunks_is_read_in_one_pass() -> None:
    """A copy of the rest for each chunk would take minutes."""
    many = 100_000
    body = " ".join(f"{number * CHUNK_BYTES} 8 1 0" for number in range(many))
    with metaserver(lambda _: answer(body)) as connected:
        assert len(connected.holders(64)) == many


def test_chunks_that_are_listed_again_and_again_are_not_asked_for_for_ever() -> None:
    with metaserver(lambda _: answer(LAYOUT, "Has-more-chunks: 1")) as connected:
        assert list(connected.holders(64)) == [0, 1, 2]


def test_a_connection_that_is_closed_amid_an_answer_is_an_error() -> None:
    """Its last number may have lost digits."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Metaserver(*server.getsockname()) as connected,
        server.accept()[0] as peer,
    ):
        peer.sendall(b"OK\r\nStatus: 0\r\nContent-length: 24\r\n\r\n0 84 1 1 127.0.0.1 220")
        peer.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionError, match="it closed the connection"):
            connected.holders(64)
