"""Ceph's object store: what RADOS, below its gateway, says about the parts of every object.

An S3 object is a head, and tails of 4 MiB; one that was uploaded in parts is an empty head, and pieces of
4 MiB of each part. Each is an object of RADOS, in a pool that has a layout. A pool
consists of placement groups, each on some storage daemons (OSDs). Ceph acknowledges a write when it has
stored fewer copies or stripes than the pool promises: only the state of the placement group tells. So every
group is asked which objects it has, and whether all its OSDs have them.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from subprocess import TimeoutExpired
from typing import Any

from datagen.observed_layout import StoredFile, StoredFiles
from datagen.storage.bucket import STANDARD, StoredObject
from datagen.storage.s3_server import S3Server
from harness.base.child_process import finished
from harness.base.errors import BadInput
from harness.base.failure_reason import failure_reason
from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout
from harness.model.spark_properties import S3A_CEPH_CONF

PROGRAM_S = 120.0

AT_ONCE = 4
"""How many programs ask at the same time: each takes a third of a second of a processor."""

SEPARATOR = "\t"
CHUNK_BYTES = 4 * 2**20
"""The gateway's rgw_obj_stripe_size, unless somebody has changed it."""

NOBODY = 2**31 - 1
"""What Ceph writes for a stripe that no OSD stores."""

_LACKING = (
    r"degraded|undersized|incomplete|stale|down|inconsistent|failed_repair|recover(ing|y_\w+)|\w+_unfound|"
    "creating|peering|peered|unknown"
)
WHOLE = re.compile(rf"active(\+(?!({_LACKING})(\+|$))\w+)*")
"""The states of a placement group in which every copy or stripe of its objects is stored: active ones in
which Ceph 16 to 20 reports no lack. The other states are harmless: maintenance (snaptrim), moves to other
OSDs (remapped, backfill_toofull), priorities (forced_recovery), slow answers (laggy, wait)."""

_VERSION = re.compile(r"ceph version (\S+)")

REED_SOLOMON = re.compile(
    r"(jerasure|isa) (reed_sol_van|reed_sol_r6_op|cauchy|cauchy_orig|cauchy_good)"
)
"""Plugins and techniques that compute Reed-Solomon codes."""


@dataclass(frozen=True)
class Pool:
    """A pool of RADOS.

    `groups` is the number of its placement groups, and `size` the number of copies or stripes of each object.
    `stripe_bytes` is the length of a row of cells, 0 for copies.
    """

    number: int
    groups: int
    layout: Layout
    size: int
    stripe_bytes: int

    def part_bytes(self, length: int) -> int:
        """Return the bytes of each copy, or of each stripe, of an object of RADOS."""
        if not self.stripe_bytes:
            return length
        rows = ceil(length / self.stripe_bytes)
        return rows * self.stripe_bytes // max(1, self.layout.data)


@dataclass(frozen=True)
class PlacementGroup:
    """The objects in a group, the OSDs that store it, and whether they store all of its objects."""

    objects: frozenset[str]
    holders: Sequence[int]
    is_whole: bool


NO_GROUP = PlacementGroup(frozenset(), (), is_whole=False)


class Ceph(S3Server):
    """Asks `radosgw-admin`, `ceph` and `rados` on the driver's node, which needs a keyring that may read."""

    name = "ceph"
    choice = "a bucket with another placement, or another fs.s3a.create.storage.class"

    def layout_of_new_objects(self) -> Layout:
        """Return the layout of the pool of the bucket's placement and of the storage class."""
        return self._pool_of(self.bucket.storage_class).layout

    def observe(self, names: Collection[str]) -> StoredFiles:
        """Look at every object of RADOS, and at the state of its placement group."""
        found = self.bucket.objects(names)
        parts = self._parts(found)
        classes = {each.storage_class for each in found}
        if found:
            classes.add(STANDARD)  # the pool of all heads
        group_of: dict[str, PlacementGroup] = {}
        for pool in {self._pool_of(each) for each in classes}:
            for group in self._groups(pool):
                group_of.update(dict.fromkeys(group.objects, group))
        files = {
            each.name: self._stored_file(each, parts[each.name], group_of)
            for each in found
            if each.name in parts  # else it has been deleted meanwhile
        }
        return StoredFiles(
            files,
            server=self.name,
            server_version=self._version,
            addresses={
                f"osd.{each['osd']}": str(each["public_addr"])
                for each in self._osd_map.get("osds", ())
            },
        )

    def drop_cached(self) -> None:
        """Let the OSDs drop what they keep in memory: they read past the page cache."""
        self._run("ceph", "tell", "osd.*", "cache", "drop")

    @staticmethod
    def explain(stored: StoredFiles) -> str:
        """Ceph reports no error while it stores fewer copies or stripes than the pool promises."""
        if stored.missing:
            return (
                "Ceph acknowledges a write as soon as the pool's min_size of copies or stripes is stored: "
                "an OSD may be down or full, or the pool still recovers; look at `ceph -s`"
            )
        return "the pool follows from the placement of the bucket and from the storage class of each object"

    # What the cluster is.

    @property
    def _version(self) -> str:
        """The versions of the OSDs that are up; empty if none says it."""
        found: set[str] = set()
        for text in self._json("ceph", "versions").get("osd", ()):
            version = _VERSION.match(text)
            if version:  # else it is `unknown`: the OSD has not said it yet
                found.add(version[1])
        return ", ".join(sorted(found))

    @cached_property
    def _osd_map(self) -> Any:
        return self._json("ceph", "osd", "dump")

    @cached_property
    def _pools(self) -> Mapping[str, Pool]:
        profiles = self._osd_map["erasure_code_profiles"]
        return {
            str(pool["pool_name"]): _pool(pool, profiles.get(pool["erasure_code_profile"]))
            for pool in self._osd_map["pools"]
        }

    @cached_property
    def _bucket_stats(self) -> Any:
        return self._json("radosgw-admin", "bucket", "stats", f"--bucket={self.bucket.name}")

    @cached_property
    def _pool_name_by_class(self) -> Mapping[str, str]:
        """The names of the pools, which need not exist: the gateway makes one for its first object."""
        placement = self._bucket_stats["placement_rule"].partition("/")[0]
        zone = self._json("radosgw-admin", "zone", "get")
        placements = {each["key"]: each["val"] for each in zone["placement_pools"]}
        if placement not in placements:
            raise BadInput(
                f"{self.bucket.directory.uri}: the bucket has the placement {placement}, which the zone of "
                f"`radosgw-admin` has not; it has {', '.join(sorted(placements))}"
            )
        classes = placements[placement]["storage_classes"]
        standard = classes[STANDARD]["data_pool"]
        return {
            name: str(of_class.get("data_pool", standard)) for name, of_class in classes.items()
        }

    def _pool_of(self, storage_class: str) -> Pool:
        uri = self.bucket.directory.uri
        names = self._pool_name_by_class
        if storage_class not in names:
            raise BadInput(
                f"{uri}: the placement of the bucket has no storage class "
                f"{storage_class}; it has {', '.join(sorted(names))}"
            )
        name = names[storage_class]
        if name not in self._pools:
            raise BadInput(
                f"{uri}: Ceph has no pool {name} yet, which objects of class {storage_class} go to: its "
                "gateway makes it for the first object; write one, or create the pool"
            )
        return self._pools[name]

    # Where the objects are.

    def _parts(self, found: Iterable[StoredObject]) -> Mapping[str, list[str]]:
        """Return the names of the objects of RADOS that each object consists of, by its name."""
        name_by_key = {f"{self.bucket.prefix}{each.name}": each.name for each in found}
        parts: dict[str, list[str]] = defaultdict(list)
        bucket = f"--bucket={self.bucket.name}"
        separator = f"--rgw-obj-fs={SEPARATOR}"
        listed = self._run("radosgw-admin", "bucket", "radoslist", bucket, separator)
        # The whole bucket is listed. Names of others may have separators, and ends of lines.
        for line in listed.split("\n"):
            part, _, rest = line.partition(SEPARATOR)
            key = rest.partition(SEPARATOR)[2]
            if key in name_by_key:
                parts[name_by_key[key]].append(part)
        return parts

    def _groups(self, pool: Pool) -> list[PlacementGroup]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return list(threads.map(lambda number: self._group(pool, number), range(pool.groups)))

    def _group(self, pool: Pool, number: int) -> PlacementGroup:
        id_ = f"{pool.number}.{number:x}"
        state = self._json("ceph", "tell", id_, "query")
        holders = [osd for osd in state["acting"] if osd != NOBODY]
        listed = ""
        if state["state"].startswith(
            "active"
        ):  # else it does not answer, and its objects are missing
            listed = self._run("rados", f"--pgid={id_}", "ls")
        names = frozenset(line.split(SEPARATOR)[0] for line in listed.split("\n"))
        return PlacementGroup(names, holders, bool(WHOLE.fullmatch(state["state"])))

    def _stored_file(
        self, found: StoredObject, parts: Sequence[str], group_of: Mapping[str, PlacementGroup]
    ) -> StoredFile:
        pool = self._pool_of(found.storage_class)
        standard = self._pool_of(STANDARD)
        marker = self._bucket_stats["marker"]
        head = f"{marker}_{self.bucket.prefix}{found.name}"
        with_data = sorted((part for part in parts if part != head), key=_numbers)
        # A head has no data, and is in the standard pool, if the object is not of the standard class; neither
        # has that of an object which was uploaded in parts.
        in_parts = any(part.startswith(f"{marker}__multipart_") for part in parts)
        if head in parts and pool is standard and not in_parts:
            with_data.insert(0, head)
        lengths = dict(zip(with_data, _lengths(found.bytes, len(with_data))))
        placement: Counter[str] = Counter()
        missing = 0
        for part in parts:
            own_pool = standard if part == head else pool
            group = group_of.get(part, NO_GROUP)
            lacking = own_pool.size - len(group.holders)
            if not group.is_whole:
                lacking = max(lacking, 1)
            missing += lacking
            for osd in group.holders:
                placement[f"osd.{osd}"] += own_pool.part_bytes(lengths.get(part, 0))
        return StoredFile(pool.layout, found.bytes, dict(placement), missing)

    # How it is asked.

    def _json(self, *command: str) -> Any:
        shown = f"`{' '.join(command)}`"
        if command[0] == "ceph":
            command = (*command, "--format=json")
        return self.parsed(self._run(*command), shown)

    def _run(self, program: str, *arguments: str) -> str:
        """Return what a program of Ceph prints. Raise BadInput, in one line, if it fails."""
        command = [program, *arguments]
        conf = self.bucket.own("ceph.conf")
        if conf:
            command.insert(1, f"--conf={conf}")
        shown = f"{self.bucket.directory.uri}: `{' '.join(command)}`"
        try:
            done = finished(command, timeout_s=PROGRAM_S)
        except FileNotFoundError as error:
            raise BadInput(
                f"{shown} is not installed on the driver's node: install Ceph's ceph-common and radosgw, and "
                f"set {S3A_CEPH_CONF} unless its configuration is /etc/ceph/ceph.conf"
            ) from error
        except TimeoutExpired as error:
            raise BadInput(
                f"{shown} does not answer within {PROGRAM_S:.0f} s: is the store up?"
            ) from error
        if done.returncode != 0:
            raise BadInput(f"{shown} fails: {failure_reason(done.stderr) or 'no reason given'}")
        return done.stdout


def _numbers(part: str) -> list[int]:
    """Return the numbers in the name of a tail: the tails of an object are in their order."""
    return [int(number) for number in re.findall(r"\d+", part.rpartition(".")[2])]


def _lengths(size: int, number: int) -> list[int]:
    """Return the bytes of each object of RADOS of an object of `size` bytes, in order."""
    if number == 0:
        return []
    share = CHUNK_BYTES
    if number != max(1, ceil(size / CHUNK_BYTES)):
        share = size // number  # somebody has changed the length: their sum is right
    return [share] * (number - 1) + [size - share * (number - 1)]


def _pool(pool: Mapping[str, Any], profile: Mapping[str, str] | None) -> Pool:
    number = int(pool["pool"])
    groups = int(pool["pg_num"])
    size = int(pool["size"])
    if profile is None:
        return Pool(number, groups, Layout(LayoutKind.REPLICATED, size), size, 0)
    stripe_bytes = int(pool["stripe_width"])
    layout = UNKNOWN  # no text form describes other codes
    if REED_SOLOMON.fullmatch(f"{profile['plugin']} {profile.get('technique', '')}"):
        data = int(profile["k"])
        parity = int(profile["m"])
        layout = striped_layout(LayoutKind.REED_SOLOMON, data, parity, stripe_bytes // data)
    return Pool(number, groups, layout, size, stripe_bytes)
