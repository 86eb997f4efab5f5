"""Buckets of Ceph's gateway, which speaks S3.

Standard library only, because the lab's master uses it, too.
"""

import secrets

from harness.base.errors import ClusterliftError
from harness.base.http_request import Credentials, Request, ask
from harness.model.layout import Layout

ANSWER_S = 10.0


def new_credentials() -> Credentials:
    """Return random keys."""
    return Credentials(secrets.token_hex(10), secrets.token_hex(20))


def bucket_name(layout: Layout) -> str:
    """Return the name of the bucket that has a layout: `rs-2-1`."""
    return str(layout).replace(":", "-").replace("+", "-")


def create_bucket(url: str, credentials: Credentials, name: str) -> None:
    """Create a bucket at the gateway of this URL, with the placement target of the same name.

    Raise ClusterliftError if the gateway refuses.
    """
    body = (
        f"<CreateBucketConfiguration><LocationConstraint>:{name}</LocationConstraint>"
        "</CreateBucketConfiguration>"
    )
    try:
        ask(Request(url, f"/{name}", method="PUT", body=body.encode()), credentials)
    except OSError as error:
        raise ClusterliftError(f"bucket {name} cannot be created: {error}") from error


def is_answered(url: str) -> bool:
    """Return whether the gateway answers, without an error."""
    try:
        ask(Request(url), timeout_s=ANSWER_S)
    except OSError:
        return False
    return True
