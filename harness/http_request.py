"""HTTP requests with the standard library alone, and their signature by version 4 of AWS's signatures.

S3A and AWS's SDK read the answers of object stores in their own way, and drop what only one server adds.
"""

import hashlib
import hmac
import http.client
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

TIMEOUT_S = 60.0
MAX_ANSWER_BYTES = 2**26
SERVICE = "s3"
DIRECT = build_opener(ProxyHandler({}))
"""S3A, too, uses no proxy that the environment names; and none reaches this machine's 127.0.0.1."""
_ERROR_CODE = re.compile(rb"<Code>(\w{1,64})</Code>")


@dataclass(frozen=True)
class Credentials:
    """Who asks. The secrets never appear in a text of this object."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


def ask(
    endpoint: str,
    path: str,
    query: Mapping[str, str],
    credentials: Credentials | None = None,
    *,
    region: str = "us-east-1",
    method: str = "GET",
    body: bytes | None = None,
    timeout_s: float = TIMEOUT_S,
) -> bytes:
    """Return the answer to a request, which is signed if there are credentials.

    Raises OSError if there is no answer, or if the server refuses.
    """
    headers = {}
    if credentials is not None:
        signed = (method, endpoint, path, query, body or b"")
        headers = signed_headers(signed, credentials, region, datetime.now(UTC))
    asked = f"?{_canonical_query(query)}" if query else ""
    url = f"{endpoint}{quote(path, safe='/~')}{asked}"
    return answer_to(url, headers, method=method, body=body, timeout_s=timeout_s)


def answer_to(
    url: str,
    headers: Mapping[str, str],
    *,
    method: str = "GET",
    body: bytes | None = None,
    timeout_s: float = TIMEOUT_S,
) -> bytes:
    """Return the answer to a request. Raises OSError if there is none, or if the server refuses."""
    request = Request(url, data=body, headers=dict(headers), method=method)  # noqa: S310  http or https
    try:
        with DIRECT.open(request, timeout=timeout_s) as answer:
            content: bytes = answer.read(MAX_ANSWER_BYTES + 1)
    except HTTPError as error:
        raise OSError(f"the server answers {error.code} {_reason(error)}") from error
    except URLError as error:
        raise OSError(str(error.reason)) from error
    except http.client.HTTPException as error:
        raise OSError(f"the server's answer is no HTTP: {type(error).__name__}") from error
    if len(content) > MAX_ANSWER_BYTES:
        raise OSError(f"an answer has more than {MAX_ANSWER_BYTES:,} bytes")
    return content


def _reason(error: HTTPError) -> str:
    """Return the code of S3's error, such as `AccessDenied`; else what HTTP calls it."""
    with error, suppress(OSError, http.client.HTTPException):  # it may be cut off
        if code := _ERROR_CODE.search(error.read(MAX_ANSWER_BYTES)):
            return code[1].decode()
    return str(error.reason)


def signed_headers(
    request: tuple[str, str, str, Mapping[str, str], bytes],
    credentials: Credentials,
    region: str,
    now: datetime,
) -> dict[str, str]:
    """Return the headers of a request: method, endpoint, path, query and body."""
    method, endpoint, path, query, body = request
    time, day = f"{now:%Y%m%dT%H%M%SZ}", f"{now:%Y%m%d}"
    digest = hashlib.sha256(body).hexdigest()
    headers = {
        "host": urlsplit(endpoint).netloc,
        "x-amz-content-sha256": digest,
        "x-amz-date": time,
    }
    if credentials.session_token is not None:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        (
            *(method, quote(path, safe="/~"), _canonical_query(query)),
            *(f"{name}:{value}" for name, value in sorted(headers.items())),
            *("", names, digest),
        )
    )
    scope = f"{day}/{region}/{SERVICE}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return headers


def _canonical_query(query: Mapping[str, str]) -> str:
    return "&".join(
        f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted(query.items())
    )
