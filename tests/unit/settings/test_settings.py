"""Each kind of setting: how its value is read, and the commands that set it and put it back."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ToolError
from harness.hosts.remote_process import CompletedCommand, parse_completed
from harness.hosts.transports.host import HostError
from harness.model.link import MIN_BIT_S, Link, parse_rate
from harness.settings.disk_rate import disk_rate
from harness.settings.rate import HANDLE, commands_to_limit, limit_outgoing, rate
from harness.settings.setting import Setting, ShellCommand, failed_command, script, why_it_failed
from harness.settings.simple import bond_member, mtu, own_command, sysctl
from harness.settings.speed import speed
from tests.unit.builders import known

MBIT = 10**6


def printed(output: str, code: int = 0, errors: str = "") -> CompletedCommand:
    return CompletedCommand(code, output, errors)


def sh(line: str) -> CompletedCommand:
    done = subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True)
    return printed(done.stdout, done.returncode, done.stderr)


def lines(commands: Sequence[ShellCommand]) -> list[str]:
    return [command.line for command in commands]


def limited(bit_s: int, mtu: int) -> dict[str, object]:
    """Return our own queue, as the kernel describes it: in whole bytes a second."""
    counted = known(Link(bit_s, mtu).counted_bit_s)
    return {"kind": "tbf", "handle": HANDLE, "root": True, "options": {"rate": counted // 8}}


class TestScript:
    COMMANDS = (ShellCommand("true"), ShellCommand("false", may_fail=True), ShellCommand("false"))

    def test_the_exit_code_tells_which_command_failed(self) -> None:
        assert failed_command(self.COMMANDS, sh(script(self.COMMANDS)).code) is self.COMMANDS[2]

    def test_commands_that_may_fail_do_not_end_it(self) -> None:
        assert sh(script(self.COMMANDS[:2])).code == 0

    @pytest.mark.parametrize("code", [1, 2, 9, 13, 127])
    def test_another_exit_code_is_of_no_command(self, code: int) -> None:
        assert failed_command(self.COMMANDS, code) is None


class TestWhyACommandFailed:
    LIMIT = tuple(commands_to_limit("eth0", Link(MBIT, 1500), is_limited=False))

    @pytest.mark.parametrize(
        ("command", "message", "module"),
        [
            ("tc qdisc replace", "Error: Specified qdisc kind is unknown.", "sch_tbf"),
            ("ip link add", "Error: Unknown device type.", "ifb"),
            ("tc qdisc add", "Error: Specified qdisc kind is unknown.", "sch_ingress"),
            ("tc filter", "Error: TC classifier not found.", "cls_u32 and act_mirred"),
        ],
    )
    def test_a_missing_kernel_module_is_named(
        self, command: str, message: str, module: str
    ) -> None:
        failed = next(each for each in self.LIMIT if each.line.startswith(command))
        assert f"this kernel cannot shape links without {module}: " in why_it_failed(
            failed, message
        )

    def test_another_error_is_reported_with_the_command(self) -> None:
        reason = why_it_failed(self.LIMIT[-1], "RTNETLINK answers: Operation not permitted")
        assert reason == f"{self.LIMIT[-1].line}: RTNETLINK answers: Operation not permitted"


class TestRate:
    RATE = rate("eth0", 160 * MBIT, 1500)

    @pytest.mark.parametrize(
        "queues",
        [
            [],
            [{"kind": "noqueue", "handle": "0:", "root": True}],
            [{"kind": "fq_codel", "handle": "0:", "root": True}],
            [
                {"kind": "mq", "handle": "0:", "root": True},
                {"kind": "fq_codel", "handle": "0:", "parent": ":1"},
            ],
        ],
    )
    def test_the_kernel_s_own_queues_are_no_limit(self, queues: list[dict[str, object]]) -> None:
        assert self.RATE.read(printed(json.dumps(queues))) == "unlimited"

    def test_no_limit_is_a_setting_too(self) -> None:
        unlimited = rate("eth0", None, 1500)
        assert unlimited.read(printed("[]")) == unlimited.value
        assert unlimited.read(printed(json.dumps([limited(160 * MBIT, 1500)]))) == "160mbit"

    @pytest.mark.parametrize(
        ("kind", "queue"),
        [
            ("htb", {"kind": "htb", "handle": "1:", "root": True}),
            ("tbf", {"kind": "tbf", "handle": "8001:", "root": True, "options": {"rate": 1}}),
            ("ingress", {"kind": "ingress", "handle": "ffff:", "parent": "ffff:fff1"}),
            ("clsact", {"kind": "clsact", "handle": "ffff:", "parent": "ffff:fff1"}),
        ],
    )
    def test_a_queue_of_somebody_else_is_refused(self, kind: str, queue: dict[str, object]) -> None:
        with pytest.raises(ToolError, match=f"already has a queue of the kind {kind}, which could"):
            self.RATE.read(printed(json.dumps([queue])))

    @pytest.mark.parametrize("text", ["", "no json", "{}", "[1]", f'[{{"handle": "{HANDLE}"}}]'])
    def test_text_that_cannot_be_read_is_an_error(self, text: str) -> None:
        with pytest.raises(ToolError, match="tc"):
            self.RATE.read(printed(text))

    def test_a_limit_accounts_for_frame_overhead_that_the_kernel_does_not_count(self) -> None:
        assert limit_outgoing("eth0", Link(100 * MBIT, 1500)).line == (
            "tc qdisc replace dev eth0 root handle c1f7: tbf rate 98439532bit burst 131072b latency 5ms"
        )

    def test_the_burst_grows_with_the_rate(self) -> None:
        assert "burst 1230494b" in limit_outgoing("eth0", Link(10**10, 1500)).line

    def test_a_first_limit_is_for_both_directions(self) -> None:
        found = lines(self.RATE.commands("160mbit", "unlimited"))
        assert found[:3] == REMOVED
        assert [line.split()[4] for line in (found[3], found[8])] == ["eth0", "clusterlift0"]
        assert found[4:8] == [
            "ip link add clusterlift0 type ifb",
            "ip link set dev clusterlift0 up",
            "tc qdisc add dev eth0 handle ffff: ingress",
            (
                "tc filter add dev eth0 parent ffff: protocol all u32 match u32 0 0 "
                "action mirred egress redirect dev clusterlift0"
            ),
        ]

    def test_what_is_read_is_set_first_and_removed_last_so_that_no_part_is_left_unseen(
        self,
    ) -> None:
        assert "dev eth0 root" in lines(self.RATE.commands("160mbit", "unlimited"))[3]
        assert "dev eth0 root" in lines(self.RATE.commands("unlimited", "unlimited"))[-1]

    def test_another_limit_replaces_it_without_a_gap(self) -> None:
        found = lines(self.RATE.commands("160mbit", "100mbit"))
        assert [line.split()[:3] for line in found] == [["tc", "qdisc", "replace"]] * 2

    def test_no_limit_is_put_back_by_removing_everything(self) -> None:
        commands = self.RATE.commands("unlimited", "unlimited")
        assert lines(commands) == REMOVED
        assert all(command.may_fail for command in commands)

    @given(st.integers(MIN_BIT_S, 40 * 10**9))
    def test_a_former_limit_is_put_back(self, bit_s: int) -> None:
        former = rate("eth0", int(float(f"{bit_s:.6g}")), 1500)
        assert former.can_be(former.value)
        assert len(self.RATE.commands(former.value, former.value)) == 2


REMOVED = [
    "tc qdisc del dev eth0 ingress",
    "ip link del clusterlift0",
    "tc qdisc del dev eth0 root",
]


MTU = mtu("eth0", 9000)
SYSCTL = sysctl("net.ipv4.tcp_rmem", "4096  131072 6291456")
RATIO = sysctl("vm.dirty_ratio", "20")
BYTES = sysctl("vm/dirty_bytes", "268435456")
SPEED = speed("eth0", 1000)
MEMBER = bond_member("eth1")
DISK = disk_rate("n1", "/data", "/sys/fs/cgroup/a", 50 * MBIT)
OLD = "/sys/fs/cgroup/blkio/a/blkio.throttle"


ETHTOOL = """Settings for eth0:
\tSupported ports: [ TP ]
\tSupported link modes:   10baseT/Half 10baseT/Full
\t                        100baseT/Half 100baseT/Full
\t                        1000baseT/Full
\t                        2500baseT/Full
\tSupported pause frame use: Symmetric Receive-only
\tSupports auto-negotiation: Yes
\tAdvertised link modes:  {offered}
\tAdvertised pause frame use: Symmetric Receive-only
\tAdvertised auto-negotiation: Yes
\tSpeed: 2500Mb/s
\tDuplex: Full
\tAuto-negotiation: {negotiates}
\tPort: Twisted Pair
"""
ALL_MODES = """10baseT/Half 10baseT/Full
\t                        100baseT/Half 100baseT/Full
\t                        1000baseT/Full
\t                        2500baseT/Full"""


ONE_MODE = "1000baseT/Full"


def ethtool(offered: str = ALL_MODES, negotiates: str = "on", supported: str = ALL_MODES) -> str:
    text = ETHTOOL.replace(ALL_MODES, supported)
    return text.format(offered=offered, negotiates=negotiates)


def member(kind: str | None, *flags: str) -> str:
    info = {} if kind is None else {"linkinfo": {"info_slave_kind": kind}}
    return json.dumps([{"ifname": "eth1", "flags": list(flags), **info}])


@pytest.mark.parametrize(
    ("setting", "output", "value"),
    [
        (MTU, "1500\n", "1500"),
        # Tabs of the kernel are spaces.
        (SYSCTL, "4096\t131072\t6291456\n", SYSCTL.value),
        # Of two kernel settings, one is in force, and the other one is 0.
        (RATIO, "20\n0\n", "20"),
        (RATIO, "0\n0\n", "0"),
        (RATIO, "0\n268435456\n", "vm.dirty_bytes=268435456"),
        (BYTES, "0\n20\n", "vm.dirty_ratio=20"),
        (SPEED, ethtool(), "automatic"),
        (SPEED, ethtool(ONE_MODE), SPEED.value),
        (SPEED, ethtool(ONE_MODE, supported=ONE_MODE), "1000 Mbit/s"),
        # A long list is read quickly.
        (SPEED, ethtool(f"{ONE_MODE} {'1' * 1_000_000}"), "1000 Mbit/s"),
        (MEMBER, member("bond", "BROADCAST", "UP"), "up"),
        (DISK, "", "rbps=max wbps=max"),
        (DISK, "8:0 rbps=1 wbps=max riops=max wiops=9\n", "rbps=1 wbps=max"),
        (DISK, f"{OLD}.write_bps_device:8:0 7\n", "rbps=max wbps=7"),
        (
            DISK,
            f"{OLD}.read_bps_device:8:0 50000000\n{OLD}.write_bps_device:8:0 50000000\n",
            DISK.value,
        ),
        (MEMBER, member("bond", "BROADCAST"), "down"),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_a_value_is_read_from_what_the_host_prints(
    setting: Setting, output: str, value: str
) -> None:
    assert setting.read(printed(output)) == value


@pytest.mark.parametrize(
    ("setting", "completed", "message"),
    [
        (MTU, printed("", 1, "No such file"), "there is no device eth0"),
        (
            SYSCTL,
            printed("", 255, "sysctl: cannot stat /proc/sys/net: No such file"),
            "cannot stat",
        ),
        (
            SPEED,
            printed(ethtool(f"{ONE_MODE} 2500baseT/Full")),
            "a selection that could not be put",
        ),
        (SPEED, printed(ethtool(negotiates="off")), "eth0 does not negotiate its speed"),
        (SPEED, printed("Settings for eth0:\n\tSpeed: 10000Mb/s\n"), "limit its rate instead"),
        (MEMBER, printed(member(None, "UP")), "eth1 is not a member of a bond"),
        (MEMBER, printed(member("bridge", "UP")), "eth1 is not a member of a bond"),
        (MEMBER, printed("", 1), "there is no device eth1"),
        (DISK, printed("", 1, "/data does not exist"), "/data does not exist"),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_what_is_unknown_or_could_not_be_put_back_is_refused(
    setting: Setting, completed: CompletedCommand, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        setting.read(completed)


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        (MTU, "9000", "ip link set dev eth0 mtu 9000"),
        (SYSCTL, "1 2 3", "sysctl -q -w 'net.ipv4.tcp_rmem=1 2 3'"),
        (RATIO, "20", "sysctl -q -w vm.dirty_ratio=20"),
        (RATIO, "vm.dirty_bytes=268435456", "sysctl -q -w vm.dirty_bytes=268435456"),
        (BYTES, "268435456", "sysctl -q -w vm/dirty_bytes=268435456"),
        (SPEED, "1000 Mbit/s", "ethtool -s eth0 speed 1000 duplex full autoneg on"),
        (SPEED, "automatic", "ethtool -s eth0 autoneg on"),
        (MEMBER, "down", "ip link set dev eth1 down"),
        (MEMBER, "up", "ip link set dev eth1 up"),
    ],
    ids=lambda it: getattr(it, "name", it),
)
def test_a_value_is_set_and_put_back_by_a_command(setting: Setting, value: str, line: str) -> None:
    assert lines(setting.commands(value, value))[0] == line


@pytest.mark.parametrize(
    ("setting", "reading"),
    [
        (RATIO, "sysctl -n vm.dirty_ratio vm.dirty_bytes"),
        (BYTES, "sysctl -n vm/dirty_bytes vm.dirty_ratio"),
        (SYSCTL, "sysctl -n net.ipv4.tcp_rmem"),
    ],
    ids=lambda it: getattr(it, "name", it),
)
def test_a_kernel_setting_is_read_with_the_one_that_may_be_in_force_in_its_place(
    setting: Setting, reading: str
) -> None:
    assert setting.reading == reading


@pytest.mark.parametrize(
    ("key", "text", "before"),
    [
        ("net.ipv4.ip_forward", "1", "0"),
        ("net.ipv4.conf.all.forwarding", "1", "0"),
        ("net/ipv6/conf/eth0.100/forwarding", "0", "1"),
        ("net.ipv6.conf.all.disable_ipv6", "1", "0"),
        ("kernel.watchdog", "0", "1"),
        ("vm.drop_caches", "3", "0"),
    ],
)
def test_a_kernel_setting_that_could_not_be_put_back_can_only_be_as_it_is(
    key: str, text: str, before: str
) -> None:
    setting = sysctl(key, text)
    assert setting.can_be(text)
    assert not setting.can_be(before)


class TestMtu:
    """With files in place of the kernel's."""

    @pytest.fixture
    def net(self, tmp_path: Path) -> Path:
        add_device(tmp_path, "eth0", 9000)
        return tmp_path

    def reading(self, net: Path, size: int) -> str | HostError:
        setting = mtu("eth0", size)
        script = setting.reading.replace("/sys/class/net", str(net))
        script = script.replace("/proc/net/if_inet6", f"{net}/if_inet6")
        return parse_completed("n1: MTU of eth0", sh(script), setting.read)

    @pytest.mark.parametrize(
        ("kind", "is_part", "mtu_bytes", "size", "is_refused"),
        [
            ("vlan", True, 9000, 1500, True),
            ("vlan", True, 1500, 1500, False),
            ("vlan", True, 9000, 9000, False),
            ("", True, 9000, 1500, True),  # a macvlan, or a macvtap
            ("macsec", True, 1490, 1500, True),
            ("ipvlan", True, 9000, 1500, False),
            ("bridge", False, 9000, 1500, False),
            ("bond", False, 9000, 1500, False),
            ("vxlan", False, 8950, 1500, False),
            ("", False, 65575, 1500, False),  # a VRF device
        ],
    )
    def test_a_device_whose_mtu_would_be_lowered_for_good_is_named(
        self, net: Path, kind: str, mtu_bytes: int, size: int, *, is_part: bool, is_refused: bool
    ) -> None:
        add_device(net, "eth0.100", mtu_bytes, kind, on="eth0", is_part=is_part)
        expected = "9000"
        if is_refused:
            expected = (
                "n1: MTU of eth0: Linux would lower the MTU of eth0.100, too, and not put it back: "
                "set it to 1500 at most yourself"
            )
        assert str(self.reading(net, size)) == expected

    def test_also_one_on_a_bridge_that_has_the_mtu_of_its_port(self, net: Path) -> None:
        add_device(net, "br0", 9000, "bridge", on="eth0")
        add_device(net, "br0.100", 9000, "vlan", on="br0", is_part=True)
        assert "would lower the MTU of br0.100, too" in str(self.reading(net, 1500))

    @pytest.mark.parametrize(
        ("address", "size", "is_refused"),
        [
            ("fd000000000000000000000000000001 02 40 00 80     eth0", 1279, True),
            ("fd000000000000000000000000000001 02 40 00 80     eth0", 1280, False),
            ("fd000000000000000000000000000001 02 40 00 80     eth01", 576, False),
            ("fe800000000000000000000000000001 02 40 20 80     eth0", 576, False),
            (None, 576, False),
        ],
    )
    def test_ipv6_addresses_that_would_be_lost_are_told(
        self, net: Path, address: str | None, size: int, *, is_refused: bool
    ) -> None:
        if address:
            (net / "if_inet6").write_text(f"{address}\n")
        expected = "9000"
        if is_refused:
            expected = (
                "n1: MTU of eth0: with an MTU of 1279, Linux would take away the IPv6 addresses of eth0, "
                "and not put them back: choose 1280 or more"
            )
        assert str(self.reading(net, size)) == expected


def add_device(
    net: Path,
    name: str,
    mtu_bytes: int,
    kind: str = "",
    on: str | None = None,
    *,
    is_part: bool = False,
) -> None:
    """Add the directory that the kernel has of a device, which may be on another one, or a part of it."""
    directory = net / name
    index = len(list(net.iterdir()))
    directory.mkdir()
    files = {"mtu": mtu_bytes, "ifindex": index, "iflink": index, "uevent": f"DEVTYPE={kind}"}
    for file, text in files.items():
        (directory / file).write_text(f"{text}\n")
    if on:
        (net / on / f"upper_{name}").symlink_to(directory)
    if on and is_part:
        (directory / "iflink").write_text((net / on / "ifindex").read_text())


def a_disk() -> str:
    """The device of a disk of this machine, or a skip."""
    for disk in sorted(Path("/sys/block").iterdir()):
        if (device := Path("/dev", disk.name)).is_block_device():
            return str(device)
    pytest.skip("this machine shows no disk")


class TestDiskRate:
    """With files in place of a control group's."""

    @pytest.mark.parametrize("version", [1, 2])
    def test_what_is_set_is_read_again(self, tmp_path: Path, version: int) -> None:
        old = [tmp_path / f"blkio.throttle.{way}_bps_device" for way in ("read", "write")]
        for file in [tmp_path / "io.max"] if version > 1 else old:
            file.touch()
        setting = disk_rate("n1", a_disk(), str(tmp_path), MBIT)
        [command] = setting.commands(setting.value, setting.value)
        assert setting.read(sh(setting.reading)) == "rbps=max wbps=max"
        assert sh(command.line).code == 0
        assert setting.read(sh(setting.reading)) == setting.value

    def test_no_limit_is_zero_in_groups_of_version_1(self, tmp_path: Path) -> None:
        old = [tmp_path / f"blkio.throttle.{way}_bps_device" for way in ("read", "write")]
        for file in old:
            file.touch()
        [command] = disk_rate("n1", a_disk(), str(tmp_path), MBIT).commands("rbps=max wbps=9", "")
        assert sh(command.line).code == 0
        assert [file.read_text().split()[1] for file in old] == ["0", "9"]

    @pytest.mark.parametrize(
        ("at", "message"),
        [
            ("/no/such", "/no/such does not exist"),
            ("/proc", "/proc is on no disk of its own: name a device"),
            (None, "has no io.max (systemctl set-property --runtime"),
        ],
    )
    def test_what_cannot_be_limited_is_a_line(
        self, tmp_path: Path, at: str | None, message: str
    ) -> None:
        setting = disk_rate("n1", at or a_disk(), str(tmp_path), MBIT)
        with pytest.raises(ToolError) as failed:
            setting.read(sh(setting.reading))
        assert message in str(failed.value)

    def test_a_group_of_version_1_is_not_told_of_what_version_2_has(self, tmp_path: Path) -> None:
        (tmp_path / "tasks").touch()
        for group, message in (
            (
                tmp_path,
                f"{tmp_path} is of version 1 and limits no disk: name a group of version 1 below",
            ),
            (
                tmp_path / "no",
                f"{tmp_path}/no is no control group here: name a group of version 1 below",
            ),
        ):
            setting = disk_rate("n1", a_disk(), str(group), MBIT)
            with pytest.raises(
                ToolError, match=f"^{message} /sys/fs/cgroup/blkio, or of version 2"
            ):
                setting.read(sh(setting.reading))


class TestOwnCommand:
    def test_its_check_tells_whether_it_is_applied(self) -> None:
        command = own_command("a", "r", "c")
        assert command.read(printed("", 0)) == command.value == "applied"
        assert command.read(printed("", 1)) == "not applied"

    @pytest.mark.parametrize("line", ["exit 3", "if", "echo 'a b' \"$HOME\""])
    def test_a_line_of_the_user_cannot_break_the_script(self, line: str, tmp_path: Path) -> None:
        after = ShellCommand(f"touch {tmp_path}/after")
        commands = [*own_command(line, "r", "c").commands("applied", "not applied"), after]
        failed = failed_command(commands, sh(script(commands)).code)
        assert (failed is commands[0]) != (tmp_path / "after").exists()

    def test_results_and_journals_know_it_by_a_name_or_a_digest(self) -> None:
        secret = own_command("curl -u admin:hunter2 x", "r", "c")
        assert secret.name == "command b5b0d82e5cca"
        assert own_command("curl -u admin:hunter2 x", "r2", "c").name != secret.name
        assert own_command("a", "r", "c", "jumbo").name == "command jumbo"


ALL: tuple[tuple[Setting, str], ...] = (
    (TestRate.RATE, "unlimited"),
    (MTU, "1500"),
    (SYSCTL, "4096 1 2"),
    (SPEED, "automatic"),
    (MEMBER, "up"),
    (DISK, "rbps=max wbps=1048576"),
    (own_command("a", "r", "c"), "not applied"),
)


@pytest.mark.parametrize(("setting", "before"), ALL, ids=lambda it: getattr(it, "name", it))
def test_a_setting_has_bounds_that_its_values_keep_to(setting: Setting, before: str) -> None:
    assert setting.can_be(setting.value)
    assert setting.can_be(before)
    for text in ("1500; reboot", "$(reboot)", "1500\nreboot", "9" * 5000):
        assert not setting.can_be(text) or setting is SYSCTL
    assert not setting.can_be("1500\nreboot")


HOSTILE = "e;>x;#"


@pytest.mark.parametrize(
    "setting",
    [
        mtu(HOSTILE, 9000),
        rate(HOSTILE, 10 * MBIT, 1500),
        speed(HOSTILE, 1000),
        bond_member(HOSTILE),
        disk_rate("it", HOSTILE, HOSTILE, MBIT),
    ],
    ids=lambda setting: setting.name,
)
def test_the_name_of_a_device_runs_nothing(setting: Setting, tmp_path: Path) -> None:
    before = {
        "MTU": "1500",
        "rate": "unlimited",
        "speed": "automatic",
        "bond": "up",
        "disk": "rbps=max wbps=max",
    }
    former = before[setting.name.split()[0]]
    for commands in (setting.commands(setting.value, former), setting.commands(former, former)):
        for line in (setting.reading, *lines(commands)):
            subprocess.run(
                ["/bin/sh", "-c", line.replace("sleep 1", ":")],
                cwd=tmp_path,
                env={"PATH": "/nowhere"},
                check=False,
                capture_output=True,
            )
            assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "text", ["1mbit", "100mbit", "123.456mbit", "1.23457gbit", "40gbit", "1234.56kbit"]
)
@pytest.mark.parametrize("mtu_bytes", [576, 1500, 9000])
def test_a_rate_of_any_number_of_digits_is_what_it_was_set_to(text: str, mtu_bytes: int) -> None:
    bit_s = parse_rate("rate", text)
    setting = rate("eth0", bit_s, mtu_bytes)
    assert setting.read(printed(json.dumps([limited(bit_s, mtu_bytes)]))) == setting.value
    slower = limited(bit_s * 99 // 100, mtu_bytes)
    assert setting.read(printed(json.dumps([slower]))) != setting.value
