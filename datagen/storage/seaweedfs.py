"""SeaweedFS: its filer tells the volumes of every object, and its master which servers have them.

An object consists of chunks, which lie in volumes, among chunks of other objects. A volume has as many
copies as its replica placement promises. After writing, `ec.encode` turns all copies of a volume into 14
shards. So the layout of an object is that of its volumes: what S3 shows as its storage class changes nothing.

The filer is asked by HTTP, and the master by `weed shell`: no answer of the master's own has shards.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from datagen.observed_layout import StoredFile, StoredFiles, replicated_file
from datagen.storage.observer import PROGRAM_S, Observer
from harness.http_request import ask
from harness.model.errors import BadInput
from harness.model.layout import UNKNOWN, Layout, LayoutKind
from harness.model.spark_properties import S3A_SEAWEEDFS

CODED = Layout(LayoutKind.REED_SOLOMON, 10, 4)
"""What `ec.encode` makes of a volume; others are only in the paid edition."""
CELL_BYTES = 2**20
LARGE_MIB = 10_000
"""A volume that is larger has rows of larger cells before those of CELL_BYTES."""
ENCODE_S = 3600.0
"""How long `ec.encode` may take for a volume, which may have 30 GB and more."""
WAIT_S = 60.0
POLL_S = 1.0

# What `volume.list` prints: `volume id:3 collection:"b" replica_placement:10` in older versions, and in those
# of 2026 `volume Id:3, Size:8, ReplicaPlacement:010, Collection:b`.
SIZE_LIMIT = re.compile(r"volumeSizeLimit:(\d+) MB")
SERVER = re.compile(r"\s*DataNode (\S+)")
COPY = re.compile(r"\s*volume id:(\d+)\b", re.IGNORECASE)
PLACEMENT = re.compile(r"\breplica_?placement:(\d+)", re.IGNORECASE)
REMOTE = re.compile(r"\bremote_?storage_?name:", re.IGNORECASE)
SHARDS = re.compile(r"\s*ec volume id:(\d+) collection:\S* shards:\[([\d ]*)\]")
VERSION = re.compile(r"\d+\.\d+\S*")


@dataclass
class Volume:
    """The servers that have a copy of a volume, and those that have each of its shards.

    `promised` is how many copies its replica placement promises.
    """

    promised: int = 0
    copies: list[str] = field(default_factory=list)
    shards: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class Volumes:
    """All volumes by their numbers, and the layout that `ec.encode` gives to a volume of this size."""

    by_number: Mapping[int, Volume]
    coded: Layout

    def __getitem__(self, number: int) -> Volume:
        return self.by_number.get(number, Volume())

    def layout(self, volume: Volume) -> Layout | None:
        """Return the layout of a volume: that of its copies, while it has some; None if no server has it."""
        if volume.copies:
            return Layout(LayoutKind.REPLICATED, volume.promised)
        if not volume.shards:
            return None
        return self.coded if max(volume.shards) < self.coded.nodes else UNKNOWN


Chunk = tuple[int, int]
"""The number of the volume that has a chunk, and the chunk's bytes."""


class Seaweedfs(Observer):
    """Asks the filer and the master that the properties name, with `weed` on the driver's node."""

    name = "seaweedfs"
    choice = "that one, another rule of `fs.configure` for its path in `weed shell`, or rs:10+4"

    def check_request(self, layout: Layout) -> Layout:
        """Return the layout in full. Raise BadInput unless it is the path's, or what `ec.encode` makes."""
        coded = self._volumes().coded
        return coded if layout.is_met_by(coded) else super().check_request(layout)

    def layout_of_new_objects(self) -> Layout:
        """Return what the filer's rules give to the path; unknown if none names a replication."""
        printed = self._shell("fs.configure")
        rules = self.parsed(printed[printed.find("{") : printed.rfind("}") + 1], "`fs.configure`")
        path = self._path("")
        replications = {
            rule["locationPrefix"]: rule["replication"]
            for rule in rules.get("locations", [])
            if path.startswith(rule["locationPrefix"]) and rule.get("replication")
        }
        if not replications:
            return UNKNOWN
        return Layout(LayoutKind.REPLICATED, _copies(replications[max(replications, key=len)]))

    def finish(self, names: list[str], layout: Layout | None) -> None:
        """Code the volumes of the objects if they are to be coded, and wait until their copies are gone."""
        if layout is None or layout.kind is not LayoutKind.REED_SOLOMON:
            return
        numbers = sorted({number for name in names for number, _ in self._chunks(name)})
        volumes = self._volumes()
        copied = [number for number in numbers if volumes[number].copies]
        if not copied:
            return
        encode = [
            f"ec.encode -collection={self.bucket.name} -volumeId={number}" for number in copied
        ]
        self._shell("lock", *encode, "unlock", timeout_s=ENCODE_S * len(encode))
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            volumes = self._volumes()
            if not any(volumes[number].copies for number in copied):
                return
            time.sleep(POLL_S)

    def observe(self, names: Collection[str]) -> StoredFiles:
        """Look at all volumes of every object."""
        chunks = {found: self._chunks(found.name) for found in self.bucket.objects(names)}
        volumes = self._volumes()
        files = {
            found.name: _stored_file(found.bytes, parts, volumes) for found, parts in chunks.items()
        }
        status = self._asked("master", "/dir/status", {})
        version = VERSION.search(str(status.get("Version")))
        return StoredFiles(files, server=f"{self.name} {version[0] if version else '?'}")

    @staticmethod
    def explain(stored: StoredFiles) -> str:
        """SeaweedFS reports no error while it stores objects in another layout."""
        if stored.missing:
            return (
                "a volume server is away, or has lost a volume: in `weed shell`, `volume.fix.replication` "
                "copies volumes, and `ec.rebuild` computes shards"
            )
        if stored.excess:
            return (
                "`ec.encode`, or the move of a volume, was interrupted: repeat it in `weed shell`"
            )
        return (
            "SeaweedFS stores once where no rule of `fs.configure` names a replication, and does not save a "
            "rule whose volumeGrowthCount is no multiple of the copies; a storage class changes nothing; "
            "what is written after `ec.encode` is not coded"
        )

    # How it is asked.

    def _path(self, name: str) -> str:
        return f"/buckets/{self.bucket.name}/{self.bucket.prefix}{name}"

    def _chunks(self, name: str) -> list[Chunk]:
        """Return the chunks of an object; if it has very many, lists of them are chunks themselves."""
        path = self._path(name)
        chunks = self._asked("filer", path, {"metadata": "true"}).get("chunks") or []
        lists = [chunk for chunk in chunks if chunk.get("is_chunk_manifest")]
        if lists:
            query = {"metadata": "true", "resolveManifest": "true"}
            chunks = self._asked("filer", path, query).get("chunks") or []
            if any(chunk.get("is_chunk_manifest") for chunk in chunks):
                raise BadInput(
                    f"{self.bucket.directory.uri}/{name}: the filer does not list all of its chunks, which "
                    "newer versions of SeaweedFS do"
                )
        return [
            *((_volume_number(chunk), int(chunk["size"])) for chunk in chunks),
            *((_volume_number(chunk), 0) for chunk in lists),
        ]

    def _volumes(self) -> Volumes:
        listed = self._shell("volume.list")
        if (limit := SIZE_LIMIT.search(listed)) is None:
            raise BadInput(
                f"{self.bucket.directory.uri}: `volume.list` of `weed shell` lists nothing"
            )
        cell_bytes = CELL_BYTES if int(limit[1]) <= LARGE_MIB else None
        return Volumes(volumes_in(listed.splitlines()), replace(CODED, cell_bytes=cell_bytes))

    def _address(self, server: str) -> str:
        if (address := self.bucket.own(f"seaweedfs.{server}")) is None:
            raise BadInput(
                f"{self.bucket.directory.uri}: {S3A_SEAWEEDFS}{server} is not set: name host and port of "
                f"the {server} of SeaweedFS"
            )
        return address

    def _asked(self, server: str, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        url = f"http://{self._address(server)}"
        try:
            answer = ask(url, path, query)
        except OSError as error:
            raise BadInput(f"{self.bucket.directory.uri}: {url}{path}: {error}") from error
        found: dict[str, Any] = self.parsed(answer, f"{url}{path}")
        return found

    def _shell(self, *commands: str, timeout_s: float = PROGRAM_S) -> str:
        """Return what commands of `weed shell` print. Raise BadInput, in one line, for the first error."""
        servers = [f"-{server}={self._address(server)}" for server in ("master", "filer")]
        return self.run(
            ["weed", "shell", *servers],
            "install SeaweedFS's `weed`, of the version of its servers",
            typed="".join(f"{command}\n" for command in commands),
            timeout_s=timeout_s,
        )


def volumes_in(lines: Iterable[str]) -> Mapping[int, Volume]:
    """Return the volumes that `volume.list` prints. The data of a tiered volume is on no volume server."""
    volumes: dict[int, Volume] = defaultdict(Volume)
    server = ""
    for line in lines:
        if named := SERVER.match(line):
            server = named[1]
        elif coded := SHARDS.match(line):
            for shard in map(int, coded[2].split()):
                volumes[int(coded[1])].shards[shard].append(server)
        elif (copy := COPY.match(line)) and not REMOTE.search(line):
            placement = PLACEMENT.search(line)
            volume = volumes[int(copy[1])]
            volume.promised = _copies(placement[1] if placement else "")
            volume.copies.append(server)
    return volumes


def _copies(placement: str) -> int:
    """Return the number of copies: a digit for those in other data centres, other racks, and in the rack."""
    return 1 + sum(map(int, placement))


def _volume_number(chunk: Mapping[str, Any]) -> int:
    number = (chunk.get("fid") or {}).get("volume_id")
    return int(number or chunk["file_id"].partition(",")[0])


def _stored_file(size: int, chunks: Iterable[Chunk], volumes: Volumes) -> StoredFile:
    bytes_in: Counter[int] = Counter()
    for number, length in chunks:
        bytes_in[number] += length
    parts = [(length, volumes[number]) for number, length in bytes_in.items()]
    layouts = {layout for _, volume in parts if (layout := volumes.layout(volume))}
    # Volumes of different layouts; or nobody has the data; or the filer itself has it.
    if len(layouts) != 1 or UNKNOWN in layouts:
        missing = sum(volumes.layout(volume) is None for _, volume in parts)
        return StoredFile(UNKNOWN, size, missing=missing)
    [layout] = layouts
    if layout.kind is not LayoutKind.REPLICATED:
        return _coded_file(layout, size, parts)
    file = replicated_file(layout, size, [(length, volume.copies) for length, volume in parts])
    shards = sum(len(servers) for _, volume in parts for servers in volume.shards.values())
    return replace(file, excess=file.excess + shards)


def _coded_file(layout: Layout, size: int, parts: Sequence[tuple[int, Volume]]) -> StoredFile:
    """Return how an object in coded volumes is stored.

    Nobody tells where in its volume a chunk begins, so its bytes are taken as spread over all shards.
    """
    placement: Counter[str] = Counter()
    missing = excess = co_located = 0
    for length, volume in parts:
        shards_on = Counter(server for servers in volume.shards.values() for server in servers)
        missing += layout.nodes - len(volume.shards)
        excess += shards_on.total() - len(volume.shards)
        co_located += sum(count for count in shards_on.values() if count > 1)
        for server, count in shards_on.items():
            placement[server] += count * length // layout.data
    return StoredFile(layout, size, dict(placement), missing, excess, co_located)
