"""Requests are signed as AWS shows it, and what a server refuses is an error of one line."""

import socket
import threading
from datetime import datetime, timezone

import pytest

from harness.base.http_request import Credentials, Request, ask, signed_headers
from tests.web import server


def test_a_request_is_signed_as_aws_shows_it() -> None:
    """The example `Get bucket lifecycle` of AWS's documentation of signature version 4."""
    headers = signed_headers(
        Request("https://examplebucket.s3.amazonaws.com", "/", {"lifecycle": ""}),
        Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        "us-east-1",
        datetime(2013, 5, 24, tzinfo=timezone.utc),
    )
    assert headers["authorization"].endswith(
        "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    )


def test_credentials_have_no_text() -> None:
    assert "hunter2" not in repr(Credentials("hunter2", "hunter2", "hunter2"))


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (403, b"<Error><Code>AccessDenied</Code></Error>", "the server answers 403 AccessDenied"),
        (404, b"<html>", "the server answers 404 Not Found"),
    ],
)
def test_a_refusal_is_named_by_its_code(status: int, body: bytes, message: str) -> None:
    with server(status, body) as (url, _), pytest.raises(OSError, match=f"^{message}$"):
        ask(Request(url, "/bucket"))


def test_an_answer_of_another_protocol_is_an_error_of_one_line() -> None:
    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(10_000)
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(OSError, match="the server does not answer in HTTP: BadStatusLine"):
            ask(Request(f"http://127.0.0.1:{listener.getsockname()[1]}", "/bucket"))
