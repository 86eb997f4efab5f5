"""HTTP requests with the standard library alone, and their signature by version 4 of AWS's signatures.

S3A and AWS's SDK read the answers of object stores in their own way, and drop what only one server adds.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import quote, urlsplit

TIMEOUT_S = 60.0
MAX_ANSWER_BYTES = 2**26
SERVICE = "s3"
REFUSALS = 300
"""Answers with this status or a higher one are refusals. No redirection is followed."""
_ERROR_CODE = re.compile(rb"<Code>(\w{1,64})</Code>")


@dataclass(frozen=True)
class Credentials:
    """Who asks. The secrets never appear in a text of this object."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Request:
    """A request to `endpoint`, scheme://host:port. Path and query are not quoted yet."""

    endpoint: str
    path: str = "/"
    query: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    body: bytes = b""

    @property
    def quoted_path(self) -> str:
        return quote(self.path, safe="/~")

    @property
    def quoted_query(self) -> str:
        """The query in the order that a signature needs."""
        parameters = []
        for name, value in sorted(self.query.items()):
            parameters.append(f"{quote(name, safe='~')}={quote(value, safe='~')}")
        return "&".join(parameters)


class Refused(OSError):
    """A server refuses a request.

    `wants` is the kind of authentication that it wants, such as `Negotiate`.
    """

    def __init__(self, answer: HTTPResponse, content: bytes) -> None:
        code = _ERROR_CODE.search(content)  # of S3, such as AccessDenied
        reason = code[1].decode() if code else answer.reason
        super().__init__(f"the server answers {answer.status} {reason}")
        self.status = answer.status
        self.wants = answer.headers.get("WWW-Authenticate", "")
        self.leads_to = answer.headers.get("Location", "")


def ask(
    request: Request,
    credentials: Credentials | None = None,
    *,
    region: str = "us-east-1",
    timeout_s: float = TIMEOUT_S,
) -> bytes:
    """Return the answer to a request, which is signed if there are credentials.

    Like S3A, it uses no proxy. Raises OSError if there is no answer, or if the server refuses.
    """
    headers: dict[str, str] = {}
    if credentials is not None:
        now = datetime.now(timezone.utc)
        headers = signed_headers(request, credentials, region, now)
    with answered(request, headers, timeout_s) as answer:
        content = answer.read(MAX_ANSWER_BYTES + 1)
    if len(content) > MAX_ANSWER_BYTES:
        raise OSError(f"an answer has more than {MAX_ANSWER_BYTES:,} bytes")
    return content


@contextmanager
def answered(
    request: Request, headers: Mapping[str, str], timeout_s: float = TIMEOUT_S
) -> Iterator[HTTPResponse]:
    """Send a request, and yield the answer, to be read in the `with` block.

    Raises OSError, there too, if there is no answer for `timeout_s`, and Refused if the server refuses.
    """
    at = urlsplit(request.endpoint)
    asked = request.quoted_path
    if request.query:
        asked += f"?{request.quoted_query}"
    connection_type = HTTPSConnection if at.scheme == "https" else HTTPConnection
    try:
        connection = connection_type(at.netloc, timeout=timeout_s)
        try:
            connection.request(request.method, asked, request.body or None, dict(headers))
            answer = connection.getresponse()
            if answer.status >= REFUSALS:
                raise Refused(answer, answer.read(MAX_ANSWER_BYTES))
            yield answer
        finally:
            connection.close()
    except (HTTPException, ValueError) as error:
        raise OSError(f"the server does not answer in HTTP: {type(error).__name__}") from error


def signed_headers(
    request: Request, credentials: Credentials, region: str, now: datetime
) -> dict[str, str]:
    """Return the headers of a signed request."""
    time = f"{now:%Y%m%dT%H%M%SZ}"
    day = f"{now:%Y%m%d}"
    digest = hashlib.sha256(request.body).hexdigest()
    headers = {
        "host": urlsplit(request.endpoint).netloc,
        "x-amz-content-sha256": digest,
        "x-amz-date": time,
    }
    if credentials.session_token is not None:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    canonical = [request.method, request.quoted_path, request.quoted_query]
    canonical += [f"{name}:{value}" for name, value in sorted(headers.items())]
    canonical += ["", names, digest]
    canonical_digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    scope = f"{day}/{region}/{SERVICE}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical_digest}"
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return headers
