"""Event logs at a URL of an object store, of HDFS, or of what else fsspec can read."""

from collections.abc import Iterator

from harness.base.errors import BadInput
from harness.base.redaction import without_credentials
from harness.records.places import store
from harness.records.places.file import Listing, reason_of
from harness.records.places.file_system import FileSystem
from harness.records.places.object_store import SCHEMES, ObjectStore
from harness.records.places.webhdfs import HDFS, webhdfs_options


def listed(url: str) -> Listing:
    """Return the file, or the files at any depth, at a URL.

    Raise BadInput if they cannot be listed, or if there are more than MAX_FILES.
    """
    problem = "no answer"
    try:
        for found, top in _stores(url):
            try:
                return store.listed(found, top, url)
            except OSError as error:  # perhaps the next NameNode is the active one
                problem = reason_of(error)
    except OSError as error:
        problem = reason_of(error)
    raise BadInput(
        f"cannot read {without_credentials(url)}: {problem}; check the address, and whether your "
        "credentials are valid"
    )


def _stores(url: str) -> Iterator[tuple[store.Store, str]]:
    """Yield the stores that a URL may mean, in the order to try, each with the path in it."""
    scheme, _, rest = url.partition("://")
    if (scheme in SCHEMES or scheme in HDFS) and "@" in rest.partition("/")[0]:
        raise BadInput(
            f"{scheme}:// is read with the credentials that its own tools use: leave out what stands before @"
        )
    if scheme in SCHEMES:
        yield ObjectStore(scheme, rest.partition("/")[0]), rest
    elif scheme in HDFS:
        for options in webhdfs_options(scheme, rest):
            # fsspec would split a URL at the `::` of an address of IPv6.
            system = FileSystem("webhdfs:///", options)
            yield system, f"/{rest.partition('/')[2]}"
    else:
        other = FileSystem(url, {})
        yield other, other.path
