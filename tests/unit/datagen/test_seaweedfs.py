"""What SeaweedFS prints about volumes is read as the layouts of the objects in them.

No server was asked: these are answers that others have published. They are cut, and hosts are shortened.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from datagen.storage import s3a, seaweedfs
from datagen.storage.s3a import STORAGE
from datagen.storage.seaweedfs import Seaweedfs
from harness.model.errors import BadInput
from harness.model.layout import Layout
from tests.web import server

from .fake_bucket import FakeBucket

# A user's notes of 28 November 2024 on SSDs before hard disks, in a public repository: volumes 10 and 11 were
# written under the rule `-locationPrefix=/ -replication=001`, volumes 4 and 5 were coded.
NOTES = """\
> Topology volumeSizeLimit:30000 MB hdd(volume:5/16 active:5 free:9) ssd(volume:6/16 active:6 free:10)
  DataCenter DefaultDataCenter hdd(volume:5/16 active:5 free:9 remote:0)
    Rack DefaultRack hdd(volume:5/16 active:5 free:9 remote:0)
      DataNode a:8080 ssd(volume:5/8 active:5 free:3 remote:0)
        Disk ssd(volume:5/8 active:5 free:3 remote:0)
          volume id:11  size:7004808328  file_count:6680  replica_placement:1  version:3  disk_type:"ssd"
        Disk ssd total size:7004808360 file_count:6680
      DataNode a:8080 total size:7004808360 file_count:6680
      DataNode a:8081 hdd(volume:3/8 active:3 free:5 remote:0)
        Disk hdd(volume:3/8 active:3 free:5 remote:0)
          volume id:1  size:3779104  file_count:6  version:3  compact_revision:1
          volume id:10  size:1464336  file_count:3  replica_placement:1  version:3
          ec volume id:5 collection: shards:[1 3 5 7 9 11 13]
      DataNode a:8082 hdd(volume:2/8 active:2 free:4 remote:0)
        Disk hdd(volume:2/8 active:2 free:4 remote:0)
          volume id:10  size:1464336  file_count:3  replica_placement:1  version:3
          ec volume id:4 collection: shards:[0 1 2 3 4 5 6 7 8 9 10 11 12 13]
          ec volume id:5 collection: shards:[0 2 4 6 8 10 12]
      DataNode a:8083 ssd(volume:1/8 active:1 free:7 remote:0)
        Disk ssd(volume:1/8 active:1 free:7 remote:0)
          volume id:11  size:7005856952  file_count:6681  replica_placement:1  version:3  disk_type:"ssd"
"""

# seaweedfs/seaweedfs, pull request 7835 of December 2025: two of its five servers, as if three were away.
TWO_OF_FIVE = """\
Topology volumeSizeLimit:30000 MB hdd(volume:6/40 active:6 free:33 remote:0)
      DataNode b:9001 hdd(volume:1/8 active:1 free:7 remote:0)
        Disk hdd(volume:1/8 active:1 free:7 remote:0) id:0
          volume id:2  size:81761800  file_count:161  replica_placement:2  version:3
          ec volume id:1 collection: shards:[1 5 9] sizes:[1:8.00 MiB 5:8.00 MiB 9:8.00 MiB]
      DataNode b:9002 hdd(volume:1/8 active:1 free:7 remote:0)
          ec volume id:1 collection: shards:[11 12 13] sizes:[11:8.00 MiB 12:8.00 MiB 13:8.00 MiB]
"""

# seaweedfs/seaweedfs, issue 7007 of July 2025: `ec.encode` ended before it deleted. One of its servers.
NOT_DELETED = """\
Topology volumeSizeLimit:30000 MB hdd(volume:36/11110 active:18 free:11070 remote:0)
      DataNode c:8084 hdd(volume:5/1111 active:5 free:1106 remote:0)
          volume id:7 size:1174429768 collection:"ololo" file_count:280 replica_placement:2 version:3
          ec volume id:7 collection:ololo shards:[0 1 2 3 4 5 6 7 8 9 10 11 12 13]
"""

# seaweedfs/seaweedfs, issues 9428 of May and 10587 of August 2026; their lists begin within a server.
SINCE_2026 = """\
Topology volumeSizeLimit:30000 MB hdd(volume:4/8 active:4 free:4 remote:0)
      DataNode d:8080 hdd(volume:4/8 active:4 free:4 remote:0)
          volume Id:1, Size:8211841064, ReplicaPlacement:010, Collection:, Ttl:, FileCount:3578
          volume Id:2123, Size:17490128, ReplicaPlacement:000, Collection:attic-cache, Ttl:, FileCount:465
"""

# seaweedfs/seaweedfs, issue 2257 of August 2021: a rule for two copies, under which volumes were stored once.
RULE = """\
> {
  "locations": [
    {
      "locationPrefix": "/buckets/test",
      "replication": "100",
      "ttl": "600",
      "volumeGrowthCount": 2
    }
  ]
}
"""
STORED_ONCE = """\
Topology volumeSizeLimit:30000 MB hdd(volume:6/1771 active:6 free:1765 remote:0)
      DataNode e:8080 hdd(volume:6/1771 active:6 free:1765 remote:0)
          volume id:109 size:22777781424 collection:"test" file_count:6022 delete_count:6 version:3 ttl:1281
          volume id:110 size:22676154832 collection:"test" file_count:5959 delete_count:3 version:3 ttl:1281
"""

# SeaweedFS's wiki, Path-Specific-Configuration: what `fs.configure` prints before there is any rule.
NO_RULE = "> {\n\n}\n"

# SeaweedFS's wiki, Filer-Server-API, of February 2022: `GET /test01.py?metadata&pretty=yes`.
ENTRY = {
    "FullPath": "/test01.py",
    "Replication": "",
    "FileSize": 1992,
    "chunks": [
        {
            "file_id": "17,04fbb55507b515",
            "size": 1992,
            "mtime": 1641726678984876713,
            "e_tag": "px6as5eP7tF5YcgAv5m60Q==",
            "fid": {"volume_id": 17, "file_key": 326581, "cookie": 1426568469},
            "is_compressed": True,
        }
    ],
    "Content": None,
    "Remote": None,
}

# Shuyun123/seaweedfs-java-client, issue 27 of January 2022: `GET /dir/status` of a master.
STATUS = {
    "Topology": {"Free": 13, "Max": 20},
    "Version": "30GB 2.77 5cf332357bd0d006fb23d026abc632135ccb7114",
}

# None of these is quoted.
LONGEST_DECIDES = json.dumps(
    {
        "locations": [
            {"locationPrefix": "/buckets/test/rows/", "replication": "002"},
            {"locationPrefix": "/", "replication": "001"},
            {"locationPrefix": "/buckets/test/rows/g", "replication": "000"},
            {"locationPrefix": "/buckets/test/rows", "replication": ""},
        ]
    }
)

SIZE = 1000


class QuotedSeaweedfs(Seaweedfs):
    """SeaweedFS whose shell and servers answer what is quoted. Each `volume.list` is the next one."""

    def __init__(self, bucket: FakeBucket, lists: Sequence[str], rules: str, entries: Any) -> None:
        super().__init__(bucket)
        self.lists, self.rules, self.entries = [*lists], rules, entries
        self.typed: list[str] = []

    def run(
        self, command: Sequence[str], install: str, typed: str = "", timeout_s: float = 0
    ) -> str:
        assert command == ["weed", "shell", "-master=m:9333", "-filer=f:8888"]
        assert timeout_s == (3600 if "ec.encode" in typed else 120)
        self.typed.append(typed)
        if typed == "volume.list\n":
            return self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        return self.rules

    def _asked(self, server: str, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        if server == "master":
            return STATUS
        found = self.entries[path.removeprefix("/buckets/test/rows/")]
        return found["resolved"] if "resolveManifest" in query and "resolved" in found else found  # type: ignore[no-any-return]


def seaweed(
    objects: Mapping[str, Any],
    *lists: str,
    rules: str = NO_RULE,
    storage_class: str = "STANDARD",
) -> QuotedSeaweedfs:
    """Return the observer of objects, each with one chunk in each of its volumes, or with an entry."""
    conf = {"seaweedfs.master": "m:9333", "seaweedfs.filer": "f:8888"}
    conf = {f"clusterlift.s3a.{name}": value for name, value in conf.items()}
    listed = [(name, SIZE, storage_class) for name in objects]
    entries = {
        name: volumes if isinstance(volumes, dict) else {"chunks": chunks(*volumes)}
        for name, volumes in objects.items()
    }
    return QuotedSeaweedfs(FakeBucket(conf, "test", "rows/", listed), lists, rules, entries)


def chunks(*volumes: int) -> list[dict[str, Any]]:
    return [{"file_id": f"{number},04fbb55507b515", "size": SIZE} for number in volumes]


@pytest.mark.parametrize(
    ("listed", "volumes", "layout", "missing", "excess", "placement"),
    [
        (NOTES, [10], "replicated:2", 0, 0, {"a:8081": 1000, "a:8082": 1000}),
        (NOTES, [10, 11], "replicated:2", 0, 0, dict.fromkeys([f"a:808{n}" for n in range(4)], 1000)),
        (NOTES, [1], "replicated:1", 0, 0, {"a:8081": 1000}),
        (NOTES, [5], "rs:10+4", 0, 0, {"a:8081": 700, "a:8082": 700}),
        (NOTES, [4], "rs:10+4", 0, 0, {"a:8082": 1400}),
        (NOTES.replace("30000 MB", "1000 MB"), [5], "rs:10+4:1m", 0, 0, {"a:8081": 700, "a:8082": 700}),
        (NOTES, [10, 99], "replicated:2", 2, 0, {"a:8081": 1000, "a:8082": 1000}),
        (NOTES, [5, 99], "rs:10+4", 14, 0, {"a:8081": 700, "a:8082": 700}),
        (NOTES, [99], "unknown", 1, 0, {}),
        (NOTES, [10, 5], "unknown", 0, 0, {}),
        (NOTES, [], "unknown", 0, 0, {}),
        (NOTES.replace("12]", "12 14]"), [5], "unknown", 0, 0, {}),
        (NOTES.replace("11 13]", "11 12 13]"), [5], "rs:10+4", 0, 1, {"a:8081": 800, "a:8082": 700}),
        (TWO_OF_FIVE, [2], "replicated:3", 2, 0, {"b:9001": 1000}),
        (TWO_OF_FIVE, [1], "rs:10+4", 8, 0, {"b:9001": 300, "b:9002": 300}),
        (NOT_DELETED, [7], "replicated:3", 2, 14, {"c:8084": 1000}),
        (SINCE_2026, [1], "replicated:2", 1, 0, {"d:8080": 1000}),
        (SINCE_2026, [2123], "replicated:1", 0, 0, {"d:8080": 1000}),
        (
            SINCE_2026.replace("FileCount:465", "RemoteStorageName:s3.default, RemoteStorageKey:k"),
            [2123],
            "unknown",
            1,
            0,
            {},
        ),
        (STORED_ONCE, [109, 110], "replicated:1", 0, 0, {"e:8080": 2000}),
    ],
)  # fmt: skip
def test_the_layout_of_an_object_is_that_of_its_volumes(
    listed: str,
    volumes: list[int],
    layout: str,
    missing: int,
    excess: int,
    placement: Mapping[str, int],
) -> None:
    stored = seaweed({"part-0": volumes}, listed).observe(["part-0"])
    file = stored.files["part-0"]
    assert (str(file.layout), file.missing, file.excess) == (layout, missing, excess)
    assert file.placement == placement


def test_shards_on_one_server_are_counted() -> None:
    stored = seaweed({"part-0": [4], "part-1": [1]}, NOTES).observe(["part-0", "part-1"])
    assert stored.co_located == 14


def test_the_volume_of_a_chunk_and_the_version_are_read_from_their_answers() -> None:
    listed = NOTES.replace("volume id:10 ", "volume id:17 ")
    stored = seaweed({"test01.py": ENTRY}, listed).observe(["test01.py"])
    assert stored.placement == {"a:8081": 1992, "a:8082": 1992}
    assert stored.server == "seaweedfs 2.77"


def test_a_storage_class_changes_nothing() -> None:
    observer = seaweed({"part-0": [11]}, NOTES, storage_class="REDUCED_REDUNDANCY")
    assert str(observer.observe(["part-0"]).layout) == "replicated:2"


def test_a_dataset_half_of_which_is_coded_is_found_and_explained() -> None:
    stored = seaweed({"part-0": [4], "part-1": [5], "part-2": [10]}, NOTES).observe(
        ["part-0", "part-1", "part-2"]
    )
    assert stored.problem(None) == "of 3 files, 1 are replicated:2 (first: part-2)"
    assert "what is written after `ec.encode` is not coded" in STORAGE.explain(None, stored)


@pytest.mark.parametrize(
    ("listed", "volume", "reason"),
    [
        (TWO_OF_FIVE, 1, "a volume server is away"),
        (NOTES.replace("11 13]", "11 12 13]"), 5, "`ec.encode`, or the move of a volume, was interrupted"),
        (STORED_ONCE, 109, "whose volumeGrowthCount is no multiple of the copies"),
    ],
)  # fmt: skip
def test_the_likely_reason_is_named(listed: str, volume: int, reason: str) -> None:
    stored = seaweed({"part-0": [volume]}, listed).observe(["part-0"])
    assert reason in STORAGE.explain(Layout.parse("replicated:2"), stored)


def test_a_list_of_chunks_that_is_a_chunk_is_resolved() -> None:
    [manifest] = chunks(11)
    entry = {
        "chunks": [{**manifest, "is_chunk_manifest": True}],
        "resolved": {"chunks": chunks(10, 10)},
    }
    stored = seaweed({"part-0": entry}, NOTES).observe(["part-0"])
    assert stored.placement == {"a:8080": 0, "a:8081": 2000, "a:8082": 2000, "a:8083": 0}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"chunks": [{"file_id": "3,01", "is_chunk_manifest": True}]}, "does not list all of its chunks"),
        ({"chunks": [{"size": 3}]}, r"understood: KeyError\('file_id'\)$"),
    ],
)  # fmt: skip
def test_chunks_that_are_not_known_are_one_line(entry: Any, message: str) -> None:
    observer = seaweed({"part-0": entry}, NOTES)
    object.__setattr__(observer.bucket.directory, "conf", {"clusterlift.s3a.store": "seaweedfs"})
    with (
        pytest.raises(BadInput, match=f"^s3a://test/rows/.*{message}"),
        s3a._observing(observer.bucket),
    ):
        observer.observe(["part-0"])


@pytest.mark.parametrize(
    ("rules", "asked", "full"),
    [
        (RULE, "replicated:2", "replicated:2"),
        (RULE, "rs:10+4", "rs:10+4"),
        (NO_RULE, "rs:10+4", "rs:10+4"),
        (LONGEST_DECIDES, "replicated:3", "replicated:3"),
    ],
)
def test_a_layout_can_be_asked_for_where_a_rule_is_for_it_or_ec_encode(
    rules: str, asked: str, full: str
) -> None:
    assert str(seaweed({}, NOTES, rules=rules).check_request(Layout.parse(asked))) == full


@pytest.mark.parametrize(
    ("rules", "asked", "message"),
    [
        (NO_RULE, "replicated:2", r"class STANDARD as unknown; choose .*`fs.configure`"),
        (RULE, "replicated:3", r"as replicated:2; choose .*`fs.configure`"),
        (RULE, "rs:6+3", r"as replicated:2; choose .*or rs:10\+4"),
        (RULE, "rs:10+4:1m", r"as replicated:2; choose .*or rs:10\+4"),
        ("connection lost", "replicated:2", "`fs.configure` answers no JSON$"),
    ],
)  # fmt: skip
def test_any_other_layout_is_refused_before_anything_is_written(
    rules: str, asked: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        seaweed({}, NOTES, rules=rules).check_request(Layout.parse(asked))


def test_volumes_are_coded_after_writing_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seaweedfs, "POLL_S", 0)
    coded = NOTES.replace("volume id:10 ", "ec volume id:10 collection: shards:[0] ")
    observer = seaweed({"part-0": [10], "part-1": [5, 10]}, NOTES, NOTES, coded)
    observer.finish(["part-0", "part-1"], Layout.parse("rs:10+4"))
    assert observer.typed == [
        "volume.list\n",
        "lock\nec.encode -collection=test -volumeId=10\nunlock\n",
        *["volume.list\n"] * 2,
    ]


@pytest.mark.parametrize(
    ("volume", "layout", "typed"), [(10, "replicated:2", []), (5, "rs:10+4", ["volume.list\n"])]
)
def test_copies_and_what_is_coded_need_nothing_after_writing(
    volume: int, layout: str, typed: list[str]
) -> None:
    observer = seaweed({"part-0": [volume]}, NOTES)
    observer.finish(["part-0"], Layout.parse(layout))
    assert observer.typed == typed


def test_a_list_without_volumes_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"`volume.list` of `weed shell` lists nothing$"):
        seaweed({}, "> ").observe([])


def test_servers_have_to_be_named() -> None:
    with pytest.raises(
        BadInput, match=r"clusterlift.s3a.seaweedfs.master is not set: name host and"
    ):
        Seaweedfs(FakeBucket({}, "test", "rows/")).observe([])


def test_a_command_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is quoted is from issue 2239 of August 2021. The shell goes on, and exits with 0."""
    weed = tmp_path / "weed"
    weed.write_text("#!/bin/sh\necho '> '; echo 'error: need to lock to continue' >&2\n")
    weed.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    conf = dict.fromkeys(
        ("clusterlift.s3a.seaweedfs.master", "clusterlift.s3a.seaweedfs.filer"), "h:1"
    )
    with pytest.raises(BadInput, match=r"`weed shell .*` fails: need to lock to continue$"):
        Seaweedfs(FakeBucket(conf, "test", "rows/")).observe([])


def test_a_program_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    conf = dict.fromkeys(
        ("clusterlift.s3a.seaweedfs.master", "clusterlift.s3a.seaweedfs.filer"), "h:1"
    )
    with pytest.raises(
        BadInput, match=r"`weed shell .*is not installed on the driver's node: install"
    ):
        Seaweedfs(FakeBucket(conf, "test", "rows/")).observe([])


def test_a_filer_that_refuses_is_one_line() -> None:
    with server(401, b"") as (url, _):
        conf = {"clusterlift.s3a.seaweedfs.filer": url.removeprefix("http://")}
        bucket = FakeBucket(conf, "test", "rows/", [("part-0", SIZE, "STANDARD")])
        with pytest.raises(
            BadInput, match=rf"{url}/buckets/test/rows/part-0: the server answers 401"
        ):
            Seaweedfs(bucket).observe(["part-0"])
