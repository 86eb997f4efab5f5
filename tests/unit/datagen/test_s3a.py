"""What an object store's server reports about its objects is read as the layouts that it describes."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from datagen.observed_layout import StoredFiles
from datagen.storage import minio as minio_module
from datagen.storage import s3a
from datagen.storage.bucket import Bucket, endpoint, setting
from datagen.storage.ceph import Ceph
from datagen.storage.minio import Minio
from datagen.storage.s3_server import S3Server
from datagen.storage.s3a import STORAGE
from harness.base.errors import BadInput
from harness.model.layout import Layout
from tests.programs import shell_program
from tests.unit.probe_builders import output

from .fake_bucket import FakeBucket

# S3A's settings.


def test_a_setting_of_the_bucket_is_in_force() -> None:
    conf = {"fs.s3a.endpoint": "a:1", "fs.s3a.bucket.b.endpoint": "https://b:2/"}
    assert setting(conf, "b", "endpoint") == "https://b:2/"
    assert endpoint(conf, "b") == "https://b:2"
    assert endpoint(conf, "c") == "https://a:1"
    for false in ("false", "False"):
        assert endpoint(conf | {"fs.s3a.connection.ssl.enabled": false}, "c") == "http://a:1"
    assert endpoint({}, "c") is None


@pytest.mark.parametrize(
    ("conf", "address"),
    [
        ({}, None),
        ({"fs.s3a.endpoint": "http://gateway:8080"}, ("gateway", 8080)),
        ({"fs.s3a.endpoint": "gateway"}, ("gateway", 443)),
        ({"fs.s3a.bucket.rows.endpoint": "http://other"}, ("other", 80)),
    ],
)
def test_the_host_to_look_for_is_that_of_the_endpoint_and_not_the_bucket(
    conf: Mapping[str, str], address: object
) -> None:
    assert STORAGE.address(conf, "s3a://rows/data") == address


class Conf(dict[str, str]):
    set = dict.__setitem__


@pytest.mark.parametrize(
    ("chosen", "stream"),
    [
        ({}, "classic"),
        ({"fs.s3a.input.stream.type": "analytics"}, "analytics"),
        ({"fs.s3a.bucket.rows.input.stream.type": "prefetch"}, None),
    ],
)
def test_the_stream_keeps_nothing_between_trials_unless_the_user_has_chosen_one(
    chosen: Mapping[str, str], stream: str | None
) -> None:
    conf = Conf(chosen)
    STORAGE.set_defaults(conf, "s3a://rows/data")
    assert conf.get("fs.s3a.input.stream.type") == stream


def test_a_layout_is_refused_unless_the_server_is_named() -> None:
    directory = FakeBucket({}, "rows", "data").directory
    assert STORAGE.check_request(directory, None) is None
    with pytest.raises(BadInput, match=r"clusterlift.s3a.store=ceph.*or leave --layout out"):
        STORAGE.check_request(directory, Layout.parse("replicated:2"))


@pytest.mark.parametrize("of", ["", "bucket.rows."])
def test_an_unknown_server_is_refused(of: str) -> None:
    conf = {"clusterlift.s3a.store": "ceph", f"clusterlift.s3a.{of}store": "disk"}
    directory = FakeBucket(conf, "rows", "data").directory
    with pytest.raises(BadInput, match=r"clusterlift.s3a.store is 'disk': the known servers are"):
        STORAGE.check_request(directory, Layout.parse("replicated:2"))


# Ceph, as its programs answered for two buckets on four OSDs after one of them was killed.

AWAY: dict[str, Any] = json.loads(output("ceph-osd-away.json"))
NOBODY = 2**31 - 1


def osd_is_back() -> dict[str, Any]:
    """Return the answers after the OSD came back and the pool has recovered."""
    answers = copy.deepcopy(AWAY)
    for command, answer in AWAY.items():
        if command.endswith(" query"):
            size = 3 if command.startswith("ceph tell 1.") else 2
            acting = [3 if osd == NOBODY else osd for osd in answer["acting"]]
            acting += [3] * (size - len(acting))
            answers[command] = {"state": "active+clean", "up": acting, "acting": acting}
    return answers


class CapturedCeph(Ceph):
    """Ceph, with the answers of its programs by their command lines."""

    def __init__(self, bucket: Bucket, answers: Mapping[str, Any]) -> None:
        super().__init__(bucket)
        self.answers = answers

    def _run(self, program: str, *arguments: str) -> str:
        words = [word for word in arguments if not word.startswith(("--format", "--rgw-obj-fs"))]
        answer = self.answers[" ".join((program, *words))]
        return "\n".join(answer) if isinstance(answer, list) else json.dumps(answer)


def with_cold_class(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers of a store whose placements have a class that no object ever had."""
    changed = copy.deepcopy(dict(answers))
    for placement in changed["radosgw-admin zone get"]["placement_pools"]:
        placement["val"]["storage_classes"]["COLD"] = {"data_pool": "cold"}
    return changed


def ceph(
    answers: Mapping[str, Any], bucket: str, below: str, storage_class: str = "STANDARD"
) -> tuple[Ceph, list[str]]:
    """Return the server of the dataset below a path, and the names of its files."""
    keys = [(key, *rest) for key, *rest in answers["objects"][bucket] if key.startswith(below)]
    [prefix] = {key[: key.index("part-")] for key, *_ in keys if "part-" in key}
    listed = [(key.removeprefix(prefix), *rest) for key, *rest in keys if "part-" in key]
    conf = {"fs.s3a.create.storage.class": storage_class}
    return CapturedCeph(FakeBucket(conf, bucket, prefix, listed), answers), [n for n, *_ in listed]


def observed(answers: Mapping[str, Any], bucket: str, below: str) -> StoredFiles:
    server, names = ceph(answers, bucket, below)
    return server.observe(names)


@pytest.mark.parametrize(
    ("bucket", "below", "layout", "per_byte"),
    [
        ("replicated-2", "bench/rows/", "replicated:2", 2.0),
        ("replicated-2", "bench/ia/", "rs:2+1:4k", 1.5),
        ("rs-2-1", "bench/rows/", "rs:2+1:4k", 1.5),
    ],
)
def test_the_pool_of_an_object_of_ceph_is_its_layout(
    bucket: str, below: str, layout: str, per_byte: float
) -> None:
    stored = observed(osd_is_back(), bucket, below)
    assert (str(stored.layout), stored.missing, stored.excess) == (layout, 0, 0)
    assert stored.problem(Layout.parse(layout)) is None
    assert (stored.server, stored.server_version) == ("ceph", "18.2.7")
    size = sum(file.bytes for file in stored.files.values())
    assert (stored.stored_bytes or 0) / size == pytest.approx(per_byte, rel=0.002)
    assert set(stored.placement) <= {"osd.0", "osd.1", "osd.2", "osd.3"}


@pytest.mark.parametrize("bucket", ["replicated-2", "rs-2-1"])
def test_what_an_osd_that_is_away_stored_is_missing(bucket: str) -> None:
    """Ceph acknowledged every write, and answers every read."""
    back, away = (observed(answers, bucket, "bench/rows/") for answers in (osd_is_back(), AWAY))
    assert away.missing > 0
    assert away.layouts == back.layouts
    assert "osd.3" not in away.placement
    assert "an OSD may be down" in STORAGE.explain(away.layout, away)


STATES = dict(line.split()[::-1] for line in output("ceph-16-to-20-states.txt").splitlines())
"""Whether a placement group lacks something, by its state: each that Ceph has, alone and with others."""


@pytest.mark.parametrize("state", STATES)
def test_only_a_group_that_lacks_something_counts_for_each_of_its_objects(state: str) -> None:
    answers = osd_is_back()
    for command, answer in answers.items():
        if command.endswith(" query"):
            answers[command] = answer | {"state": state}
    missing = observed(answers, "replicated-2", "bench/rows/").missing
    # 3 heads, 3 tails; of a group that is not active, both copies.
    assert missing in ({0} if STATES[state] == "whole" else {6, 12})


def test_an_object_that_was_uploaded_in_parts_has_an_empty_head_and_pieces_of_its_parts() -> None:
    """With these names, a real Ceph stored what S3A uploads if fs.s3a.multipart.size is 8M."""
    whole, answers = osd_is_back(), osd_is_back()
    listed = "radosgw-admin bucket radoslist --bucket=replicated-2"
    [head, tail] = [
        line.split("\t") for line in answers[listed] if "rows" in line and "part-00000" in line
    ][::-1]
    assert "__shadow_" in tail[0]
    marker, _, key = head[0].partition("_")
    first, second = (f"{marker}__{kind}_{key}.2~3vA9" for kind in ("multipart", "shadow"))
    for command, answer in answers.items():
        if command == listed:
            answer += [
                "\t".join((f"{first}.1", *head[1:])),
                "\t".join((f"{second}.1_1", *tail[1:])),
            ]
            answer.remove("\t".join(tail))
        elif command.startswith("rados "):
            answer.extend([f"{first}.1"] * (head[0] in answer))
            answer.extend([f"{second}.1_1"] * (tail[0] in answer))
    stored = observed(answers, "replicated-2", "bench/rows/")
    assert stored.missing == 0
    assert stored.placement == observed(whole, "replicated-2", "bench/rows/").placement


@pytest.mark.parametrize("character", ["\t", "\n", "\r", "\x85", "\u2028"])
def test_names_of_other_objects_may_have_any_character(character: str) -> None:
    """Ceph lists the whole bucket, and the whole pool."""
    answers = osd_is_back()
    expected = observed(answers, "replicated-2", "bench/rows/")
    key = f"of{character}others"
    for command, answer in answers.items():
        if command == "radosgw-admin bucket radoslist --bucket=replicated-2":
            answer.append(f"marker_{key}\treplicated-2\t{key}")
        elif command.startswith("rados "):
            answer.append(f"marker_{key}")
    assert observed(answers, "replicated-2", "bench/rows/") == expected


def test_an_object_of_rados_that_no_group_has_lacks_all_its_copies() -> None:
    answers = osd_is_back()
    for command, answer in answers.items():
        if command.startswith("rados "):
            answers[command] = [
                name for name in answer if "hSr-QUboLd6bVsfPlk2GnFhCPsLMUIU_1" not in name
            ]
    assert observed(answers, "replicated-2", "bench/rows/").missing == 2


def test_a_dataset_half_of_which_was_written_in_another_class_is_found() -> None:
    answers = osd_is_back()
    for listed in answers["objects"]["replicated-2"]:
        if "rows" in listed[0] and "part-00001" in listed[0]:
            listed[2] = "STANDARD_IA"
    stored = observed(answers, "replicated-2", "bench/rows/")
    assert "1 are rs:2+1:4k (first: part-00001" in (stored.problem(None) or "")


@pytest.mark.parametrize(
    ("bucket", "storage_class", "asked", "full"),
    [
        ("replicated-2", "STANDARD", "replicated:2", "replicated:2"),
        ("replicated-2", "standard_ia", "rs:2+1", "rs:2+1:4k"),
        ("rs-2-1", "STANDARD", "rs:2+1:4k", "rs:2+1:4k"),
    ],
)
def test_a_layout_can_be_asked_for_where_the_pool_has_it(
    bucket: str, storage_class: str, asked: str, full: str
) -> None:
    server, _ = ceph(with_cold_class(AWAY), bucket, "bench/rows/", storage_class)
    assert str(server.check_request(Layout.parse(asked))) == full


@pytest.mark.parametrize(
    ("storage_class", "asked", "message"),
    [
        (
            "STANDARD",
            "rs:2+1",
            "stores new objects of class STANDARD as replicated:2; choose a bucket",
        ),
        ("STANDARD_IA", "rs:2+1:64k", "of class STANDARD_IA as rs:2\\+1:4k"),
        ("GLACIER", "rs:2+1", "has no storage class GLACIER; it has COLD, STANDARD, STANDARD_IA"),
        ("COLD", "rs:2+1", "Ceph has no pool cold yet, which objects of class COLD go to"),
    ],
)
def test_any_other_layout_is_refused_before_anything_is_written(
    storage_class: str, asked: str, message: str
) -> None:
    server, _ = ceph(with_cold_class(AWAY), "replicated-2", "bench/rows/", storage_class)
    with pytest.raises(BadInput, match=message):
        server.check_request(Layout.parse(asked))


def test_the_placement_of_a_bucket_of_another_zone_is_named() -> None:
    stats = "radosgw-admin bucket stats --bucket=rs-2-1"
    answers = AWAY | {stats: AWAY[stats] | {"placement_rule": "elsewhere/STANDARD"}}
    server, _ = ceph(answers, "rs-2-1", "bench/rows/")
    with pytest.raises(
        BadInput, match=r"has the placement elsewhere, which .*; it has default-placement,"
    ):
        server.layout_of_new_objects()


def test_a_class_without_a_pool_hides_no_object_of_another_class() -> None:
    answers = osd_is_back()
    stored = observed(with_cold_class(answers), "replicated-2", "bench/rows/")
    assert stored == observed(answers, "replicated-2", "bench/rows/")


def test_a_bucket_without_objects_needs_no_pool() -> None:
    server, _ = ceph(
        AWAY | {"ceph osd dump": {"pools": [], "erasure_code_profiles": {}}}, "rs-2-1", "bench/"
    )
    assert server.observe([]).files == {}


@pytest.mark.parametrize(
    ("versions", "shown"),
    [
        ({"ceph version 18.2.7 (6b0e988) reef (stable)": 4}, "18.2.7"),
        (
            {
                "ceph version 19.2.3 (c92aebb) squid (stable)": 1,
                "ceph version 18.2.7 (6b0e988) reef": 3,
            },
            "18.2.7, 19.2.3",
        ),
        ({"ceph version 18.2.7 (6b0e988) reef (stable)": 3, "unknown": 1}, "18.2.7"),
        ({"unknown": 4}, ""),
        (None, ""),
    ],
)
def test_the_version_of_ceph_is_that_of_the_osds_which_say_it(
    versions: Mapping[str, int] | None, shown: str
) -> None:
    """An OSD that has just started says none yet, and one that is down is not counted."""
    answers = osd_is_back()
    answers["ceph versions"] = {"mon": {}} if versions is None else {"mon": {}, "osd": versions}
    assert observed(answers, "rs-2-1", "bench/rows/").server_version == shown


@pytest.mark.parametrize(
    ("profile", "layout"),
    [
        ({"plugin": "isa", "technique": "reed_sol_van"}, "rs:2+1:4k"),
        ({"plugin": "jerasure", "technique": "cauchy_good"}, "rs:2+1:4k"),
        ({"plugin": "jerasure", "technique": "liberation"}, "unknown"),
        ({"plugin": "lrc"}, "unknown"),
    ],
)
def test_a_code_that_is_not_reed_solomon_has_no_text_form(
    profile: Mapping[str, str], layout: str
) -> None:
    osds = AWAY["ceph osd dump"]
    answers = {
        **AWAY,
        "ceph osd dump": osds
        | {"erasure_code_profiles": {"rs-2-1": {"k": "2", "m": "1", **profile}}},
    }
    server, _ = ceph(answers, "rs-2-1", "bench/rows/")
    assert str(server.layout_of_new_objects()) == layout


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("echo 'error: no keyring' >&2; exit 1", "fails: error: no keyring$"),
        ("echo hello", "answers no JSON$"),
        (None, "is not installed on the driver's node: install Ceph's ceph-common"),
    ],
)
def test_a_program_of_ceph_that_fails_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, message: str
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if program else str(tmp_path))
    if program:
        shell_program(tmp_path / "radosgw-admin", program)
    conf = {"clusterlift.s3a.ceph.conf": "/etc/own.conf"}
    with pytest.raises(BadInput, match=f"^s3a://rows/data: `radosgw-admin .*{message}") as error:
        Ceph(FakeBucket(conf, "rows", "data")).layout_of_new_objects()
    assert "\n" not in str(error.value)


# MinIO, as it answered before and after one of its six drives was away.

DRIVES = json.loads(output("minio-drive-away.json"))


class CapturedMinio(Bucket):
    """The bucket `bench` of a MinIO, whose answers are captured; healing first says that it runs."""

    healing = "heal back"
    polled = 0

    def ask(self, path: str, query: Mapping[str, str], body: bytes | None = None) -> bytes:
        match path.removeprefix("/minio/admin/v3/"):
            case "info":
                answer = DRIVES["info"]
            case "heal/bench/rows/" if "clientToken" not in query:
                assert json.loads(body or b"")["dryRun"] is True
                answer = {"clientToken": "t"}
            case "heal/bench/rows/":
                self.__dict__["polled"] = self.polled + 1
                running = {"Summary": "running", "Items": None}
                answer = running if self.polled == 1 else DRIVES[self.healing]
            case "/bench":
                assert (query["metadata"], query["prefix"]) == ("true", "rows/")
                listed: str = DRIVES["list"]
                return listed.encode()
        return json.dumps(answer).encode()


def minio(storage_class: str = "STANDARD", healing: str = "heal back") -> Minio:
    conf = {"fs.s3a.create.storage.class": storage_class}
    bucket = CapturedMinio(FakeBucket(conf, "bench", "rows").directory)
    bucket.__dict__["healing"] = healing
    return Minio(bucket)


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minio_module, "POLL_S", 0)


@pytest.mark.parametrize(
    ("name", "layout", "shard_bytes"),
    [("part-0", "rs:4+2:256k", 75_000), ("part-1", "rs:5+1:209716", 60_000)],
)
def test_minio_lists_how_it_codes_an_object(name: str, layout: str, shard_bytes: int) -> None:
    stored = minio().observe([name])
    assert (str(stored.layout), stored.missing) == (layout, 0)
    assert stored.placement == {f"/data/disk{n}": shard_bytes for n in range(1, 7)}
    assert (stored.server, stored.server_version) == ("minio", "DEVELOPMENT.GOGET")


@pytest.mark.parametrize(
    ("servers", "shown"),
    [
        ([{"state": "offline"}, {"state": "online", "version": "2026-02-12"}], "2026-02-12"),
        ([{"version": "2026-02-12"}, {"version": "2026-02-12"}], "2026-02-12"),
        ([{"version": "2026-02-12"}, {"version": "2025-09-07"}], "2025-09-07, 2026-02-12"),
        ([{"state": "offline", "version": ""}], ""),
    ],
)
def test_the_version_of_minio_is_that_of_the_servers_which_are_up(
    monkeypatch: pytest.MonkeyPatch, servers: list[dict[str, str]], shown: str
) -> None:
    monkeypatch.setitem(DRIVES["info"], "servers", servers)
    assert minio().observe(["part-0"]).server_version == shown


def test_what_minio_wrote_while_a_drive_was_away_has_more_parity_for_ever() -> None:
    stored = minio().observe(["part-0", "part-2"])
    assert [str(stored.files[name].layout) for name in ("part-0", "part-2")] == [
        "rs:4+2:256k",
        "rs:3+3:349526",
    ]
    assert "3+3 instead of 4+2, and leaves them so" in STORAGE.explain(
        Layout.parse("rs:4+2"), stored
    )


@pytest.mark.parametrize(("healing", "missing"), [("heal away", 1), ("heal back", 0)])
def test_a_shard_on_a_drive_that_is_away_is_missing(healing: str, missing: int) -> None:
    stored = minio(healing=healing).observe(["part-0"])
    assert stored.missing == missing
    assert ("/data/disk6" in stored.placement) == (not missing)


@pytest.mark.parametrize(
    ("answer", "wait_s", "message"),
    [
        ({"Summary": "stopped", "Detail": "a drive is gone"}, 60, "is stopped: a drive is gone$"),
        ({"Summary": "running"}, 0.05, "is not finished within 0 s$"),
    ],
)
def test_a_dry_run_of_healing_that_does_not_finish_says_why(
    monkeypatch: pytest.MonkeyPatch, answer: Mapping[str, str], wait_s: float, message: str
) -> None:
    monkeypatch.setitem(DRIVES, "heal stuck", answer)
    monkeypatch.setattr(minio_module, "WAIT_S", wait_s)
    with pytest.raises(BadInput, match=f"MinIO's dry run of healing {message}"):
        minio(healing="heal stuck").observe(["part-0"])


@pytest.mark.parametrize(
    ("storage_class", "layout"),
    [("STANDARD", "rs:4+2:256k"), ("reduced_redundancy", "rs:5+1:209716")],
)
def test_minio_says_what_it_is_set_up_for(storage_class: str, layout: str) -> None:
    assert str(minio(storage_class).layout_of_new_objects()) == layout


@pytest.mark.parametrize(
    ("drives", "parity", "layout"),
    [
        ([1], 0, "replicated:1"),
        (
            [1],
            1,
            "replicated:1",
        ),  # what the class REDUCED_REDUNDANCY had by default on any number of drives
        ([2], 1, "rs:1+1:1m"),
        ([4], 0, "unknown"),
        ([4, 4], 2, "rs:2+2:512k"),
        ([4, 8], 2, "unknown"),
        (None, 0, "unknown"),
    ],
)
def test_minio_gives_no_parity_on_one_drive(
    monkeypatch: pytest.MonkeyPatch, drives: list[int] | None, parity: int, layout: str
) -> None:
    backend = {"standardSCParity": parity} | ({"totalDrivesPerSet": drives} if drives else {})
    monkeypatch.setitem(DRIVES["info"], "backend", backend)
    assert str(minio().layout_of_new_objects()) == layout


@pytest.mark.parametrize(
    ("k", "layout", "placement"),
    [(1, "replicated:1", {"/data/disk1": 2_500_000}), (6, "unknown", {})],
)
def test_an_object_without_parity_is_whole_on_one_drive(
    monkeypatch: pytest.MonkeyPatch, k: int, layout: str, placement: dict[str, int]
) -> None:
    listed = DRIVES["list"].replace("<K>4</K><M>2</M>", f"<K>{k}</K><M>0</M>")
    monkeypatch.setitem(DRIVES, "list", listed.replace("<Size>300000<", "<Size>2500000<"))
    drives = [{"endpoint": f"/data/disk{n + 1}", "state": "ok"} for n in range(k)]
    item = {"type": "object", "object": "rows/part-0", "before": {"drives": drives}}
    monkeypatch.setitem(DRIVES, "heal single", {"Summary": "finished", "Items": [item]})
    stored = minio(healing="heal single").observe(["part-0"])
    assert (str(stored.layout), stored.missing, stored.placement) == (layout, 0, placement)


def test_minio_has_two_classes() -> None:
    with pytest.raises(
        BadInput, match="MinIO has no storage class GLACIER; it has STANDARD, REDUCED"
    ):
        minio("GLACIER").layout_of_new_objects()


def test_a_server_that_is_no_minio_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CapturedMinio, "ask", lambda *_: b"<html>")
    with pytest.raises(BadInput, match="info, which MinIO would understand, answers no JSON"):
        minio().layout_of_new_objects()


@pytest.mark.parametrize(
    ("store", "entry"),
    [("ceph", "radosgw-admin zone get"), ("ceph", "ceph osd dump"), ("minio", "info")],
)
def test_an_answer_without_an_entry_is_one_line(
    monkeypatch: pytest.MonkeyPatch, store: str, entry: str
) -> None:
    """As from another version of the server, or if the user named another one."""
    monkeypatch.setitem(DRIVES, "info", {} if store == "minio" else DRIVES["info"])
    server: S3Server = minio()
    names = ["part-0"]
    if store == "ceph":
        server, names = ceph(AWAY | {entry: {}}, "rs-2-1", "bench/rows/")
    bucket = server.bucket
    bucket.directory.conf = bucket.directory.conf | {"clusterlift.s3a.store": store}
    message = rf"^s3a://.*clusterlift.s3a.store is '{store}', but .* understood: KeyError\('\w+'\)$"
    with pytest.raises(BadInput, match=message), s3a._server_of(bucket):
        server.observe(names)
