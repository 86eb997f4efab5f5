"""Google's store as Arrow reads it: where it is, and what its client says of a fault."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

_ENDPOINT = "STORAGE_EMULATOR_HOST"
"""The variable by which Google's own clients find another server that speaks the store's protocol."""
_TRIES_FOR = timedelta(seconds=10)
"""Without credentials, the client asks for some as long as this."""
_STATUS = re.compile(r"google::cloud::Status\(.*?last message of (.*?) error_info=", re.DOTALL)
_NO_TOKEN = "Could not create a OAuth2 access token"  # noqa: S105  what the client says
_BECAUSE = "The underlying error message was: "


def google_store(fs: Any, _bucket: str) -> Any:
    """Return the file system of `pyarrow.fs`, with the credentials that Google's own tools use."""
    options: dict[str, Any] = {"retry_time_limit": _TRIES_FOR}
    endpoint = os.environ.get(_ENDPOINT)
    if endpoint:
        scheme, _, address = endpoint.rpartition("://")
        options["scheme"] = scheme or "http"
        options["endpoint_override"] = address.rstrip("/")
        options["anonymous"] = True
    return fs.GcsFileSystem(**options)


@contextmanager
def faults_of_google() -> Iterator[None]:
    """Make an OSError of each fault of the client, with the reason alone."""
    try:
        yield
    except ImportError:
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(reason_in(str(error))) from error
    except Exception as error:
        raise OSError(reason_in(str(error))) from error


def reason_in(fault: str) -> str:
    """Return the reason that an error of Google's client wraps; the whole of an error of another form."""
    found = _STATUS.search(fault)
    if not found:
        return fault
    reason = found[1]
    if not reason.startswith(_NO_TOKEN):
        return _message_of(reason)
    because = _message_of(reason.partition(_BECAUSE)[2])
    return f"no access token: {because}; gcloud auth application-default login makes one"


def _message_of(answer: str) -> str:
    """Return what the server's JSON says in words; another answer as it is."""
    try:
        said = json.loads(answer)
        error = said["error"]
        message = error["message"] if isinstance(error, dict) else said["error_description"]
    except (ValueError, LookupError, TypeError):
        message = answer
    return str(message).rstrip(".")
