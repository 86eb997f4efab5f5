"""MinIO codes every object: its list tells K and M, and a dry run of healing which drives have the shards.

The list is an extension of S3's by the parameter `metadata`. Healing is asked by its administrative
interface, which needs a user who may heal. In a dry run it reads every shard, and changes nothing.
"""

from __future__ import annotations  # for Python 3.8

import json
import time
from collections.abc import Collection, Iterator
from functools import cached_property
from math import ceil
from typing import Any

from datagen.observed_layout import StoredFile, StoredFiles
from datagen.storage.bucket import STANDARD, StoredObject
from datagen.storage.s3_server import S3Server
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout

ADMIN = "/minio/admin/v3"
BLOCK_BYTES = 2**20
"""MinIO codes an object block by block: a cell is a block divided by the number of data stripes."""

PARITY_OF_CLASS = {STANDARD: "standardSCParity", "REDUCED_REDUNDANCY": "rrSCParity"}
DRY_RUN = json.dumps({"recursive": True, "dryRun": True, "scanMode": 2}).encode()
WAIT_S = 600.0
POLL_S = 0.5


class Minio(S3Server):
    """Asks the server itself, with the credentials of S3A."""

    name = "minio"
    choice = "another fs.s3a.create.storage.class, or another MINIO_STORAGE_CLASS_STANDARD"

    def layout_of_new_objects(self) -> Layout:
        """Return what the server is set up for, with all drives."""
        server = self._server_info["backend"]
        storage_class = self.bucket.storage_class
        if storage_class not in PARITY_OF_CLASS:
            raise BadInput(
                f"{self.bucket.directory.uri}: MinIO has no storage class {storage_class}; it has "
                f"{', '.join(PARITY_OF_CLASS)}"
            )
        sizes = set(server.get("totalDrivesPerSet") or ())
        if len(sizes) != 1:  # each pool may get objects, and an old MinIO does not say
            return UNKNOWN
        drives = sizes.pop()
        chosen = int(server[PARITY_OF_CLASS[storage_class]])
        parity = min(chosen, drives // 2)  # MinIO gives objects no more
        return _layout(drives - parity, parity)

    def observe(self, names: Collection[str]) -> StoredFiles:
        """Look at K and M of every object, and at its shards on all drives."""
        found = self.bucket.objects(names, metadata="true")
        drives = dict(self._whole_shards())
        files = {
            each.name: _stored_file(each, drives[each.name])
            for each in found
            if each.name in drives  # else it has been deleted meanwhile
        }
        return StoredFiles(files, server=self.name, server_version=self._version)

    @staticmethod
    def explain(stored: StoredFiles) -> str:
        """MinIO reports no error while it stores objects in another layout."""
        missing = ""
        if stored.missing:
            missing = "a drive is offline, or not healed (`mc admin heal`); "
        return (
            f"{missing}while a drive is away, MinIO stores new objects with more parity, such as 3+3 instead "
            "of 4+2, and leaves them so; its setting `storage_class optimize=capacity` turns that off"
        )

    @cached_property
    def _server_info(self) -> dict[str, Any]:
        answer: dict[str, Any] = self._admin("info", {})
        return answer

    @property
    def _version(self) -> str:
        """The versions of the servers that are up; a server that is away has none."""
        versions = {each.get("version") for each in self._server_info["servers"]}
        return ", ".join(sorted(filter(None, versions)))

    def _whole_shards(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each object below the directory and the drives that have its shards, by a dry run."""
        path = f"heal/{self.bucket.name}/{self.bucket.prefix}"
        token = self._admin(path, {}, DRY_RUN)["clientToken"]
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            answer = self._admin(path, {"clientToken": token}, b"")
            for item in answer.get("Items") or ():
                if item["type"] == "object":
                    drives = item["before"]["drives"] or ()
                    whole = [drive["endpoint"] for drive in drives if drive["state"] == "ok"]
                    yield item["object"][len(self.bucket.prefix) :], whole
            state = answer["Summary"]
            if state == "finished":
                return
            if state not in {"running", "not started"}:
                raise self._dry_run_error(f"{state}: {answer.get('Detail') or 'no reason given'}")
            time.sleep(POLL_S)
        raise self._dry_run_error(f"not finished within {WAIT_S:.0f} s")

    def _dry_run_error(self, state: str) -> BadInput:
        return BadInput(f"{self.bucket.directory.uri}: MinIO's dry run of healing is {state}")

    def _admin(self, path: str, query: dict[str, str], body: bytes | None = None) -> Any:
        answer = self.bucket.ask(f"{ADMIN}/{path}", query, body)
        return self.parsed(answer, f"{path}, which MinIO would understand,")


def _stored_file(found: StoredObject, drives: Collection[str]) -> StoredFile:
    data = int(found.element.findtext("Internal/K") or 0)
    parity = int(found.element.findtext("Internal/M") or 0)
    layout = _layout(data, parity)
    if layout == UNKNOWN:
        return StoredFile(UNKNOWN, found.bytes)
    whole_blocks, rest = divmod(found.bytes, BLOCK_BYTES)
    shard_bytes = whole_blocks * ceil(BLOCK_BYTES / data) + ceil(rest / data)
    missing = max(0, layout.nodes - len(drives))
    return StoredFile(layout, found.bytes, dict.fromkeys(drives, shard_bytes), missing)


def _layout(data: int, parity: int) -> Layout:
    """Return the layout of K and M; one drive stores whole objects, and stripes alone are UNKNOWN."""
    if data == 0:
        return UNKNOWN
    if data == 1 and parity == 0:
        return Layout(LayoutKind.REPLICATED, 1)
    return striped_layout(LayoutKind.REED_SOLOMON, data, parity, ceil(BLOCK_BYTES / data))
