"""A bucket whose server is not asked."""

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

from datagen.storage.bucket import Bucket, StoredObject


class FakeBucket(Bucket):
    """A bucket whose server lists these objects: names, bytes, storage class."""

    def __init__(self, conf: Mapping[str, str], name: str, prefix: str, listed: Any = ()) -> None:
        uri = SimpleNamespace(getHost=lambda: name, getPath=lambda: f"/{prefix}")
        super().__init__(
            SimpleNamespace(  # type: ignore[arg-type]
                conf=conf, uri=f"s3a://{name}/{prefix}", path=SimpleNamespace(toUri=lambda: uri)
            )
        )
        object.__setattr__(self, "listed", listed)

    def objects(self, names: Collection[str], **parameters: str) -> list[StoredObject]:
        found = [StoredObject(*each, ET.Element("Contents")) for each in self.listed]  # type: ignore[attr-defined]
        return [each for each in found if each.name in names]
