"""Whoever sees the processes, the pages and the event log of `probe --via spark` learns no key."""

import base64
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from .conftest import TIMEOUT_S, Cluster, Spark

KEYS = "harness/hosts/transports/spark/relay.py"
PAGES = ("/environment/", "/jobs/", "/stages/", "/executors/", "/api/v1/applications")
WINDOW = 12
"""A secret is found by any part of it that has this many bytes."""

RECORDING = """

_drawn = secrets.token_bytes


class secrets:
    @staticmethod
    def token_bytes(count: int) -> bytes:
        key = _drawn(count)
        Path({record!r}).write_text(key.hex())
        return key
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
    }
    confs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    options = shlex.join(["--master", cluster.url, *confs])
    with subprocess.Popen(
        [sys.executable, "-c", PROBE, options],
        cwd=copy,
        env=spark.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as ours:
        assert ours.stdout is not None
        printed = [ours.stdout.readline() for _ in range(3)]
        assert printed == ["hello\n", "hello\n", "ready\n"]
        seen = {path: page(port, path) for path in PAGES} | {"processes": processes()}
        ours.communicate(timeout=TIMEOUT_S)
    for log in events.rglob("*"):
        if log.is_file():
            seen[log.name] = log.read_bytes()
    assert any("app-" in name for name in seen), "no event log"
    key = bytes.fromhex(record.read_text())
    assert not [where for where, text in seen.items() if occurs(key, text)]


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
