"""Requests are signed as AWS shows it, and what a server refuses is an error of one line."""

import io
from datetime import UTC, datetime
from email.message import Message
from http.client import IncompleteRead
from urllib.error import HTTPError
from urllib.request import Request

import pytest

from harness.http_request import Credentials, ask, signed_headers
from tests.web import server


def test_a_request_is_signed_as_aws_shows_it() -> None:
    """The example `Get bucket lifecycle` of AWS's documentation of signature version 4."""
    headers = signed_headers(
        ("GET", "https://examplebucket.s3.amazonaws.com", "/", {"lifecycle": ""}, b""),
        Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        "us-east-1",
        datetime(2013, 5, 24, tzinfo=UTC),
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
        ask(url, "/bucket", {})


class CutOff(io.BytesIO):
    """An answer in chunks whose connection ends within one."""

    def read(self, *_: object) -> bytes:
        raise IncompleteRead(b"<Err")


def test_a_refusal_that_is_cut_off_is_named_by_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Request, **_: object) -> None:
        raise HTTPError(request.full_url, 403, "Forbidden", Message(), CutOff())

    monkeypatch.setattr("harness.http_request.DIRECT.open", refuse)
    with pytest.raises(OSError, match=r"^the server answers 403 Forbidden$"):
        ask("http://gateway", "/bucket", {})
