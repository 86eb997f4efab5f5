"""Whoever sees all that `probe --via spark` sends, starts, configures and logs learns no key."""

import base64
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from itertools import permutations
from pathlib import Path

import pytest

from harness.hosts.transports.spark.agent import PRIVATE_FILE
from harness.hosts.transports.spark.key_agreement import agreed_key, public_number

from .conftest import TIMEOUT_S, Cluster, Spark

KEYS = "harness/probes/transports/spark/key_agreement.py"
PAGES = ("/environment/", "/jobs/", "/stages/", "/executors/", "/api/v1/applications")
EVERY_PROTOCOL = 3
WINDOW = 12
"""So many bytes of a secret are looked for: messages may be cut anywhere, but hardly every few bytes."""

RECORDING = """

_drawn = private_number


def private_number() -> int:
    number = _drawn()
    with open({record!r}, "a") as file:
        file.write(f"{{number:x}}\\n")
    return number
"""
PROBE = """
import shlex, subprocess, sys
from harness.hosts.transports.spark.application import spark_transport
with spark_transport(shlex.split(sys.argv[1])) as hosts:
    for host in hosts.values():
        subprocess.run(host.argv("echo", "hello"), check=True)
    print("ready", flush=True)
    sys.stdin.read()
"""


def forms(secret: bytes) -> Iterator[bytes]:
    """Yield how a secret may be written: as it is, backwards, in hexadecimal, decimal or Base64."""
    for data in (secret, secret[::-1]):
        yield data
        yield data.hex().encode()
        yield str(int.from_bytes(data)).encode()
        for shift in range(3):  # Base64 depends on what stands before
            yield base64.b64encode(bytes(shift) + data)[4:-4]


def occurs(secret: bytes, text: bytes) -> bool:
    """Whether any part of the secret, in any form, occurs in the text."""
    return any(
        form[start : start + WINDOW] in text
        for form in forms(secret)
        for start in range(0, len(form) - WINDOW + 1, WINDOW)
    )


class Capture:
    """All that crosses the loopback interface."""

    def __init__(self) -> None:
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 26)
        self._socket.bind(("lo", EVERY_PROTOCOL))
        self._socket.settimeout(0.1)
        self._packets: list[bytes] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self) -> None:
        while not self._ended.is_set():
            with suppress(TimeoutError):
                self._packets.append(self._socket.recv(1 << 17))

    def end(self) -> bytes:
        """Return all packets, one after the other."""
        self._ended.set()
        self._thread.join()
        self._socket.close()
        return b"".join(self._packets)


@contextmanager
def captured() -> Iterator[Capture]:
    try:
        capture = Capture()
    except PermissionError:
        pytest.skip("to capture packets needs root")
    try:
        yield capture
    finally:
        capture.end()


def processes() -> bytes:
    """Return the command lines and environments of all processes."""
    texts = []
    for directory in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            with suppress(OSError):
                texts.append((directory / name).read_bytes())
    return b"\n".join(texts)


def page(port: int, path: str) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200, path
    return answer.read()


def test_no_key_is_seen_by_an_observer(
    spark: Spark, cluster: Cluster, checkout: Path, tmp_path: Path
) -> None:
    copy, record, events = tmp_path / "copy", tmp_path / "record", tmp_path / "events"
    shutil.copytree(checkout, copy)
    with (copy / KEYS).open("a") as module:
        module.write(RECORDING.format(record=str(record)))
    events.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = {
        "spark.ui.port": port,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.broadcast.compress": "false",
    }
    confs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    options = shlex.join(["--master", cluster.url, *confs])
    with (
        captured() as capture,
        subprocess.Popen(
            [sys.executable, "-c", PROBE, options],
            cwd=copy,
            env=spark.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as ours,
    ):
        assert ours.stdout is not None
        printed = [ours.stdout.readline() for _ in range(3)]
        assert printed == ["hello\n", "hello\n", "ready\n"]
        seen = {path: page(port, path) for path in PAGES} | {"processes": processes()}
        kept = list(Path("/tmp").glob(f"spark-*/executor-*/blockmgr-*/{PRIVATE_FILE}"))  # noqa: S108
        ours.communicate(timeout=TIMEOUT_S)
        seen["wire"] = capture.end()
    for log in events.rglob("*"):
        if log.is_file():
            seen[log.name] = log.read_bytes()
    assert any("app-" in name for name in seen), "no event log"
    assert not kept, "an agent's private number is still in its file"

    private = [int(line, 16) for line in record.read_text().splitlines()]
    assert len(private) == 3, "one of the relay, one of each agent"
    public = [number_bytes(public_number(number), 256) for number in private]
    for each in public:  # so a secret would have been seen
        assert occurs(each, seen["wire"])
    secrets = [number_bytes(number, 32) for number in private]
    secrets += [agreed_key(a, public_number(b)) for a, b in permutations(private, 2)]
    leaks = [where for where, text in seen.items() for secret in secrets if occurs(secret, text)]
    assert not leaks


def number_bytes(number: int, length: int) -> bytes:
    return number.to_bytes(length)


@pytest.mark.parametrize("shift", range(4))
def test_an_observer_would_recognize_a_secret_in_every_form(shift: int) -> None:
    secret = bytes(range(100, 132))
    texts = (
        secret,
        secret[::-1],
        secret.hex().encode(),
        str(int.from_bytes(secret)).encode(),
        base64.b64encode(bytes(shift) + secret),
    )
    for text in texts:
        assert occurs(secret, b"before" + text + b"after")
        assert occurs(secret, text[: len(text) // 2])
    assert not occurs(secret, bytes(range(100)))
