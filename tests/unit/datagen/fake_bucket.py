"""A bucket whose server is not asked."""

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree as ET

from datagen.filesystem import Directory
from datagen.storage.bucket import Bucket, StoredObject

Listed = tuple[str, int, str]
"""An object's name, bytes, and storage class."""


class FakeBucket(Bucket):
    """A bucket whose server lists these objects: names, bytes, storage class."""

    def __init__(
        self, conf: Mapping[str, str], name: str, prefix: str, listed: Sequence[Listed] = ()
    ) -> None:
        uri = SimpleNamespace(getHost=lambda: name, getPath=lambda: f"/{prefix}")
        path = SimpleNamespace(toUri=lambda: uri)
        directory = SimpleNamespace(conf=conf, uri=f"s3a://{name}/{prefix}", path=path)
        super().__init__(cast("Directory", directory))
        self.listed = listed

    def objects(self, names: Collection[str], **parameters: str) -> list[StoredObject]:
        found = [
            StoredObject(name, size, storage_class, ET.Element("Contents"))
            for name, size, storage_class in self.listed
        ]
        return [each for each in found if each.name in names]
