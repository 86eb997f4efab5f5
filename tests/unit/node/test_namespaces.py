"""What the kernel's files say about the namespaces of a process."""

from pathlib import Path

import pytest

from harness.node.namespaces import boot_of, is_contained, node_identity, process_namespace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    boot = tmp_path / "proc/sys/kernel/random"
    boot.mkdir(parents=True)
    (boot / "boot_id").write_text("0ad07151\n")
    namespaces = tmp_path / "proc/self/ns"
    namespaces.mkdir(parents=True)
    (namespaces / "net").symlink_to("net:[4026531833]")
    (namespaces / "pid").symlink_to("pid:[4026531836]")
    return tmp_path


def test_are_named_by_the_boot_and_their_inode(root: Path) -> None:
    assert node_identity(root) == "0ad07151 net:[4026531833]"
    assert process_namespace(root) == "0ad07151 pid:[4026531836]"


def test_of_one_machine_have_the_same_boot(root: Path) -> None:
    assert boot_of(node_identity(root)) == boot_of(process_namespace(root)) == "0ad07151"


def test_do_not_change() -> None:
    assert node_identity() == node_identity()


def test_a_process_in_the_first_one_sees_the_whole_machine(root: Path) -> None:
    assert not is_contained(root)
    pid = root / "proc/self/ns/pid"
    pid.unlink()
    pid.symlink_to("pid:[4026532201]")
    assert is_contained(root)
