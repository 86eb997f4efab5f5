"""A module of datagen.storage with a `STORAGE` is a storage; other modules may be beside it."""

from __future__ import annotations

import pkgutil

from datagen import storage
from datagen.storage import storages


def test_each_scheme_has_its_storage() -> None:
    found = storages()
    assert set(found) == {"file", "hdfs", "qfs"}
    assert {scheme: found[scheme].name for scheme in found} == {
        "file": "local",
        "hdfs": "hdfs",
        "qfs": "qfs",
    }


def test_modules_without_a_storage_are_passed_over() -> None:
    modules = {entry.name for entry in pkgutil.iter_modules(storage.__path__)}
    assert {"namenode", "metaserver"} <= modules
