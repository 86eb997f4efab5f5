"""A dataset in a real Ceph, which stays up between the cases, through its gateway and S3A."""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import pytest

from harness.http_request import Request, ask
from harness.minicluster.ceph import CephCluster, endpoint
from harness.minicluster.cluster import Cluster
from harness.minicluster.lifecycle import running
from harness.model.layout import Layout

from .processes import Ended, run
from .scenarios import ROWS, Generate, Overwrite, Scenario, spark_submit

BUCKET, BELOW = "rs-2-1", "kill/"
LAYOUT = "rs:2+1"
JOB = re.compile(r"(?<=-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class OverwriteOnCeph(Scenario):
    """A dataset in place of an old one, in an object store.

    The cases have one dataset; its rows come from the two seeds in turns.
    """

    name = "generate --overwrite on Ceph"

    def __init__(self, templates: Path) -> None:
        super().__init__(templates)
        self._stack = ExitStack()
        self._service = CephCluster([Layout.parse(LAYOUT)])
        self._seed = 1

    @cached_property
    def _cluster(self) -> Cluster:
        cluster = self._stack.enter_context(running(self._service, 3))
        self._service.create_buckets(cluster)
        return cluster

    @cached_property
    def _wholes(self) -> Mapping[int, str]:
        """The digest of the rows of each seed, from datasets on the local disk."""
        local = (Generate(self.templates), Overwrite(self.templates))
        return {scenario.seed: scenario.whole() for scenario in local}

    @cached_property
    def _names(self) -> list[str]:
        """What a dataset consists of, from the first one, which nothing interrupted."""
        place = self.templates / "dataset-on-ceph"
        place.mkdir()
        ended = run(self.commands(), place, self.environment(place, "template-on-ceph"))
        assert ended.code == 0, ended.output
        return names(self._objects())

    def environment(self, directory: Path, mark: str) -> dict[str, str]:
        return {
            **super().environment(directory, mark),
            **self._service.client_environment(self._cluster),
        }

    def prepare(self, directory: Path) -> None:
        if shutil.which("ceph-osd") is None:
            pytest.skip("no ceph-osd is on the PATH")
        directory.mkdir()
        assert self._names
        self._seed = 2 if content(self._objects()) == self._wholes[1] else 1

    def commands(self) -> Sequence[Sequence[str]]:
        options = ("--rows", ROWS, "--partitions", 2, "--seed", self._seed, "--layout", LAYOUT)
        uri = f"s3a://{BUCKET}/{BELOW}rows"
        return [spark_submit("datagen/generate.py", uri, *options, "--overwrite")]

    def violations(self, directory: Path, ended: Ended) -> Iterator[str]:
        if content(self._objects()) not in {"", *self._wholes.values()}:
            yield "what claims to be a dataset has the rows of neither the old nor the new one"

    def wrong_outcome(self, directory: Path, ended: Ended) -> Iterator[str]:
        objects = self._objects()
        if content(objects) != self._wholes[self._seed]:
            yield "the dataset is not what was asked for"
        if names(objects) != self._names:
            yield f"objects are left: {sorted(objects)}"

    def close(self) -> None:
        """Stop Ceph."""
        self._stack.close()

    def _objects(self) -> Mapping[str, bytes]:
        """Return all objects of the cases, by what their names have after `BELOW`."""
        listed = self._get(f"/{BUCKET}", {"list-type": "2", "prefix": BELOW}).decode()
        keys = re.findall("<Key>(.*?)</Key>", listed)
        return {key.removeprefix(BELOW): self._get(f"/{BUCKET}/{key}", {}) for key in keys}

    def _get(self, path: str, query: Mapping[str, str]) -> bytes:
        return ask(Request(endpoint(self._cluster), path, query), self._service.credentials)


def content(objects: Mapping[str, bytes]) -> str:
    """Return a digest of the dataset's rows in order, and "" if nothing claims that it is whole."""
    if "rows/_dataset.json" not in objects:
        return ""
    digest = hashlib.sha256()
    for name in sorted(name for name in objects if name.startswith("rows/part-")):
        digest.update(objects[name])
    return digest.hexdigest()


def names(objects: Mapping[str, bytes]) -> list[str]:
    """Return the names of objects, with Spark's random job ids left out."""
    return sorted(JOB.sub("JOB", name) for name in objects)
