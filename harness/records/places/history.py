"""A History Server of Spark, by its REST interface: its applications, and the log of each as an archive."""

import base64
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPResponse
from io import BufferedIOBase
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec

from harness.base.errors import BadInput
from harness.base.http_request import MAX_ANSWER_BYTES, Refused, Request, answered
from harness.base.redaction import without_credentials
from harness.records.places.file import LogFile, OpenFile, reason_of

TIMEOUT_S = 60.0
"""For this long, a server may send nothing."""
SLOWEST_BYTES_PER_S = 10_000
UNAUTHORIZED = 401
_CHUNK = 2**16
_API = "/api/v1/applications"
_PAGE = re.compile(
    r"(?P<above>.*)/history/(?P<id>(?:app|application|local|spark)[-_][^/]+)(?:/.*)?"
)
"""The path of an application's page. A proxy may have the whole server below `/history/`."""


class Attempt(msgspec.Struct, rename="camel"):
    """An attempt of an application, as the server lists it."""

    start_time_epoch: int
    attempt_id: str = ""
    completed: bool = False


class Listed(msgspec.Struct):
    """An application as the server lists it."""

    id: str
    name: str
    attempts: list[Attempt]

    @property
    def last_attempt(self) -> Attempt:
        """The last attempt that ended, or else the last."""
        return max(self.attempts, key=lambda each: (each.completed, each.start_time_epoch))


_LISTED = msgspec.json.Decoder(list[Listed])


@dataclass(frozen=True)
class HistoryServer:
    """A server by its URL, to which pages of one application belong, too."""

    url: str

    @property
    def _endpoint(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def _path(self) -> str:
        """The path below which the server is, as behind a proxy."""
        path = urlsplit(self.url).path
        page = _PAGE.fullmatch(path)
        if page:
            path = page["above"]
        return path.partition("/api/")[0].rstrip("/")

    @property
    def _application(self) -> str:
        """The id of the application whose page the URL is; empty if it is none."""
        page = _PAGE.fullmatch(urlsplit(self.url).path)
        return unquote(page["id"]) if page else ""

    @property
    def _headers(self) -> dict[str, str]:
        parts = urlsplit(self.url)
        if parts.username is None:
            return {}
        who = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return {"Authorization": f"Basic {base64.b64encode(who.encode()).decode()}"}

    def applications(self) -> list[Listed]:
        """Return the applications that the server knows. Raise BadInput if it cannot be asked."""
        content = bytearray()
        try:
            with self._answer(_API) as answer:
                for piece in _pieces(answer):
                    content += piece
                    if len(content) > MAX_ANSWER_BYTES:
                        raise BadInput(
                            f"{self.shown} lists more than {MAX_ANSWER_BYTES:,} bytes of applications"
                        )
        except OSError as error:
            raise BadInput(self._problem(error)) from error
        try:
            listed = _LISTED.decode(bytes(content))
        except msgspec.MsgspecError as error:
            raise BadInput(
                f"{self.shown} is no History Server of Spark: {_API} is not a list of applications"
            ) from error
        return [each for each in listed if each.attempts and self._application in {"", each.id}]

    @property
    def shown(self) -> str:
        """The URL without credentials."""
        return without_credentials(self.url)

    @contextmanager
    def downloaded(self, application: Listed) -> Iterator[LogFile]:
        """Yield the archive of an application's log, which is there in the `with` block. Raises OSError."""
        path = f"{_API}/{application.id}"
        name = application.id
        attempt = application.last_attempt.attempt_id
        if attempt:
            path += f"/{attempt}"
            name += f"_{attempt}"
        with tempfile.TemporaryFile() as file:
            with self._answer(f"{path}/logs") as answer:
                for piece in _pieces(answer):
                    file.write(piece)
            yield LogFile(f"{name}.zip", partial(_opened, file, file.tell()))

    @contextmanager
    def _answer(self, path: str) -> Iterator[HTTPResponse]:
        request = Request(self._endpoint, self._path + path)
        with answered(request, self._headers, TIMEOUT_S) as answer:
            yield answer

    def _problem(self, error: OSError) -> str:
        """Return why the server cannot be asked, and what to do."""
        if isinstance(error, Refused) and error.status == UNAUTHORIZED:
            if "negotiate" in error.wants.lower():
                return (
                    f"{self.shown} wants Kerberos, which clusterlift does not speak: download each log with "
                    f"curl --negotiate -u : -o ID.zip {self._endpoint}{self._path}{_API}/ID/logs "
                    "and name the directory of these files"
                )
            return f"{self.shown} wants a user and a password: write http://USER:PASSWORD@HOST:PORT"
        if isinstance(error, Refused) and error.leads_to:
            return f"cannot read {self.shown}: it leads to {error.leads_to}; name that"
        return f"cannot read {self.shown}: {reason_of(error)}"


def _pieces(answer: BufferedIOBase) -> Iterator[bytes]:
    """Yield what a server sends. Raise TimeoutError if that is too slow."""
    began = time.monotonic()
    size = 0
    for piece in iter(partial(answer.read1, _CHUNK), b""):
        size += len(piece)
        yield piece
        if time.monotonic() - began > TIMEOUT_S + size / SLOWEST_BYTES_PER_S:
            raise TimeoutError(f"it sends less than {SLOWEST_BYTES_PER_S:,} bytes a second")


@contextmanager
def _opened(file: BinaryIO, size: int, _path: str) -> Iterator[OpenFile]:
    file.seek(0)
    yield OpenFile(file, size)


def several_attempts(applications: Sequence[Listed]) -> list[str]:
    """Return the applications that have several attempts, with the one that counts."""
    return [
        f"{each.id} (attempt {each.last_attempt.attempt_id})"
        for each in applications
        if len(each.attempts) > 1
    ]
