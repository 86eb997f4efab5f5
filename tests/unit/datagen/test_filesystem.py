"""A file is read once more if Hadoop's own client fails, and only then."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError

from datagen.filesystem import Directory
from harness.model.errors import BadInput

OWN = "java.lang.NullPointerException: Cannot invoke RawErasureDecoder.preferDirectBuffer()"
OTHER = "java.io.FileNotFoundException: no such file"


class Stream:
    """A file whose reads fail by these errors, one after the other, before one succeeds."""

    def __init__(self, *errors: str) -> None:
        self._errors = [*errors]

    def readAllBytes(self) -> bytes:  # noqa: N802  Java's name
        if self._errors:
            raise Py4JError(self._errors.pop(0))
        return b"{}"

    def close(self) -> None:
        pass


def directory_with(stream: Stream) -> Directory:
    directory = object.__new__(Directory)
    status = SimpleNamespace(getLen=lambda: 2)
    directory.uri = "hdfs://n1:9820/rows"
    directory.path = SimpleNamespace(toUri=lambda: SimpleNamespace(getScheme=lambda: "hdfs"))
    directory.fs = SimpleNamespace(getFileStatus=lambda _: status, open=lambda _: stream)
    directory._hadoop_fs = SimpleNamespace(Path=lambda *parts: parts)
    return directory


def test_an_error_of_the_client_itself_is_no_error_of_the_file() -> None:
    assert directory_with(Stream(OWN)).read("_dataset.json") == "{}"


@pytest.mark.parametrize("errors", [(OTHER,), (OWN, OWN)])
def test_any_other_error_is(errors: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="hdfs://n1:9820/rows"):
        directory_with(Stream(*errors)).read("_dataset.json")
