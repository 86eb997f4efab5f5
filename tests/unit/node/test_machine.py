"""Facts about a machine, read from a directory with its files."""

from pathlib import Path

from harness.node.machine import links, machine_facts


def link(root: Path, name: str, **files: str) -> None:
    directory = root / "sys/class/net" / name
    directory.mkdir(parents=True)
    for file, text in files.items():
        (directory / file).write_text(f"{text}\n")


def test_links_have_speed_mtu_duplex_driver_and_state(tmp_path: Path) -> None:
    link(tmp_path, "usbeth0", speed="2500", mtu="9000", duplex="full", operstate="up")
    driver = tmp_path / "sys/class/net/usbeth0/device"
    driver.mkdir()
    (driver / "driver").symlink_to("../../bus/usb/drivers/r8152")
    facts = {"speed_mbit_s": 2500, "mtu_bytes": 9000, "duplex": "full"}
    assert links(tmp_path) == {"usbeth0": facts | {"driver": "r8152", "state": "up"}}


def test_an_unknown_fact_of_a_link_is_none_and_never_0(tmp_path: Path) -> None:
    link(tmp_path, "eth0", speed="-1", mtu="1500", duplex="unknown", operstate="unknown")
    link(tmp_path, "lo", mtu="65536")
    unknown = dict.fromkeys(("speed_mbit_s", "duplex", "driver", "state"))
    assert links(tmp_path) == {"eth0": {"mtu_bytes": 1500} | unknown}


def test_facts_are_unknown_if_the_files_are_missing(tmp_path: Path) -> None:
    facts = machine_facts(tmp_path)
    assert facts["memory_bytes"] is None
    assert facts["cpu_model"] is None
    assert facts["links"] == {}
    assert set(facts["sysctls"].values()) == {None}


def test_memory_is_in_bytes_and_sysctls_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "proc/sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal:       24684096 kB\n")
    (tmp_path / "proc/sys/net/ipv4/tcp_rmem").write_text("4096\t131072\t33554432\n")
    facts = machine_facts(tmp_path)
    assert facts["memory_bytes"] == 24684096 * 1024
    assert facts["sysctls"]["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
