"""Writes the files that Ceph's programs read: configuration, keys, pools, and the zone of the gateway.

Standard library only, because the lab's master writes it, too.
"""

import base64
import json
import secrets
import struct
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.http_request import Credentials
from harness.minicluster.buckets import bucket_name
from harness.model.layout import Layout, LayoutKind

USER = "clusterlift"
ZONE = "default"
GATEWAY_POOL = "rgw"
PLACEMENT_GROUPS = 8
"""Of the pool of a layout: with fewer, some OSDs would store much more than others."""
OSD_BYTES = 10 * 2**30
"""What an OSD can store. Its file is sparse: it takes what is stored."""
_MB = 2**20
_AES_KEY = 1
_POOLS_OF_ZONE = [
    "domain_root",
    "control_pool",
    "gc_pool",
    "lc_pool",
    "log_pool",
    "intent_log_pool",
    "usage_log_pool",
    "roles_pool",
    "reshard_pool",
    "user_keys_pool",
    "user_email_pool",
    "user_swift_pool",
    "user_uid_pool",
    "otp_pool",
    "notif_pool",
]
"""What the gateway knows, each below a name of its own in GATEWAY_POOL."""


@dataclass(frozen=True)
class CephPlan:
    """Where a Ceph has its files, and at which addresses its daemons listen.

    `directory` has the files that are written here, `data` the directories of the daemons. `monitor` is an
    address in Ceph's form, `gateway` HOST:PORT. `address` is the address of all daemons. If it is empty, each
    gets its own (`--public-addr` and `--cluster-addr` in CEPH_ARGS). The pool of a layout has `groups`
    placement groups.
    """

    directory: Path
    data: Path
    layouts: Sequence[Layout]
    osds: int
    monitor: str
    gateway: str
    address: str = ""
    groups: int = PLACEMENT_GROUPS

    @property
    def conf(self) -> Path:
        """The configuration file of all programs."""
        return self.directory / "ceph.conf"

    def write(self, credentials: Credentials) -> None:
        """Write all files. Each layout has a pool and a placement target, with the name of its bucket."""
        texts = {
            self.conf.name: self._ceph_conf(),
            "keyring": _keyring(self.osds),
            "osds": "".join(f"osd new {osd_id(n)} {n}\n" for n in range(self.osds)),
            "pools": "".join(f"{command}\n" for command in _pools(self.layouts, self.groups)),
            "zonegroup.json": json.dumps(_zonegroup(self.layouts)),
            "zone.json": json.dumps(_zone(self.layouts)),
            "user.json": json.dumps(_user(credentials)),
        }
        for name, text in texts.items():
            file = self.directory / name
            file.touch(0o600)
            file.write_text(text, encoding="utf-8")

    def _ceph_conf(self) -> str:
        settings: dict[str, object] = {
            "fsid": uuid.uuid4(),
            "mon_host": self.monitor,
            "keyring": self.directory / "keyring",
            "public_addr": self.address,
            "cluster_addr": self.address,
            "ms_bind_msgr1": "false",
            "mon_data": self.data / "monitor",
            "osd_data": self.data / "osd-$id",
            "rgw_data": self.data / "gateway",
            "run_dir": self.data,
            "crash_dir": self.data,
            "admin_socket": "",
            "pid_file": "",
            # Every log is what its daemon prints.
            "log_to_file": "false",
            "log_to_stderr": "true",
            "mon_cluster_log_to_file": "false",
            # All OSDs are on this machine: copies and stripes are on different OSDs, not on different hosts.
            "osd_crush_chooseleaf_type": 0,
            "osd_pool_default_size": min(2, self.osds),
            "osd_pool_default_pg_num": 1,
            "osd_pool_default_pg_autoscale_mode": "off",
            "mon_max_pg_per_osd": 10_000,
            "mon_allow_pool_size_one": "true",
            # How full the disk is, is the user's business.
            "mon_data_avail_crit": 0,
            "mon_data_avail_warn": 0,
            "bluestore_block_size": OSD_BYTES,
            "bluestore_cache_autotune": "false",
            "bluestore_cache_size": 64 * _MB,
            # A benchmark of its own, with which an OSD would begin.
            "osd_mclock_skip_benchmark": "true",
            "rgw_frontends": f"beast endpoint={self.gateway}",
        }
        lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
        # Without a socket, an OSD answers no question about its placement groups. The path is relative to the
        # directory where it runs: a socket's may have 107 characters.
        return f"[global]\n{lines}\n[osd]\nadmin_socket = $name.socket\n"


def osd_id(number: int) -> uuid.UUID:
    """Return the id of an OSD, unique in its cluster."""
    return uuid.UUID(int=number + 1)


def _keyring(servers: int) -> str:
    """Return a key for each client of the monitor, with its rights."""
    rights = {"mon.": "allow *", "client.admin": "allow *"}
    for number in range(servers):
        rights[f"osd.{number}"] = "allow profile osd"
    return "".join(
        f'[{name}]\nkey = {_new_key()}\ncaps mon = "{of_monitor}"\ncaps osd = "allow *"\n'
        for name, of_monitor in rights.items()
    )


def _new_key() -> str:
    """Return a random key in the form of Ceph: kind, time of creation, length, and 16 bytes."""
    head = struct.pack("<HIIH", _AES_KEY, int(time.time()), 0, 16)
    return base64.b64encode(head + secrets.token_bytes(16)).decode()


def _pools(layouts: Sequence[Layout], groups: int) -> list[str]:
    """Return the commands that create a pool for each layout, and one for what the gateway knows."""
    commands = [f"osd pool create {GATEWAY_POOL} 4 4 replicated"]
    for layout in layouts:
        name = bucket_name(layout)
        create = f"osd pool create {name} {groups} {groups}"
        if layout.kind is LayoutKind.REPLICATED:
            commands.append(f"{create} replicated --size {layout.data} --yes-i-really-mean-it")
            continue
        profile = f"k={layout.data} m={layout.parity} crush-failure-domain=osd"
        if layout.cell_bytes:
            profile += f" stripe_unit={layout.cell_bytes}"
        commands.append(f"osd erasure-code-profile set {name} {profile}")
        commands.append(f"{create} erasure {name}")
    names = [GATEWAY_POOL, *map(bucket_name, layouts)]
    commands += [f"osd pool application enable {name} rgw" for name in names]
    return commands


def _zonegroup(layouts: Sequence[Layout]) -> Mapping[str, object]:
    names = [bucket_name(layout) for layout in layouts]
    return {
        **_name(ZONE),
        "api_name": ZONE,
        "is_master": True,
        "master_zone": ZONE,
        "zones": [_name(ZONE)],
        "placement_targets": [{"name": name, "storage_classes": ["STANDARD"]} for name in names],
        "default_placement": names[0],
    }


def _zone(layouts: Sequence[Layout]) -> Mapping[str, object]:
    return {
        **_name(ZONE),
        **{name: f"{GATEWAY_POOL}:{name}" for name in _POOLS_OF_ZONE},
        "placement_pools": [
            {"key": name, "val": _placement(name)} for name in map(bucket_name, layouts)
        ],
    }


def _placement(pool: str) -> Mapping[str, object]:
    return {
        "index_pool": f"{GATEWAY_POOL}:index",
        "data_extra_pool": f"{GATEWAY_POOL}:extra",
        "storage_classes": {"STANDARD": {"data_pool": pool}},
    }


def _user(credentials: Credentials) -> Mapping[str, object]:
    key = {
        "user": USER,
        "access_key": credentials.access_key,
        "secret_key": credentials.secret_key,
    }
    data = {
        "user_id": USER,
        "display_name": USER,
        "max_buckets": 1000,
        "op_mask": "read, write, delete",
        "keys": [key],
    }
    return {"key": f"user:{USER}", "ver": {"tag": USER, "ver": 1}, "data": data}


def _name(name: str) -> Mapping[str, str]:
    return {"id": name, "name": name}
