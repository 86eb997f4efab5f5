"""Quota and use of the control group of this process, from the kernel's files."""

from pathlib import Path

import pytest

from harness.node.cgroup import (
    cpu_allowed,
    cpu_quota,
    cpu_used_s,
    memory_limit,
    throttling,
)

NEW = "31 23 0:28 {path} /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
OLD = "32 31 0:29 {path} /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"


class Machine:
    """A directory with the files of a kernel; `group` is what the process belongs to."""

    def __init__(self, root: Path, group: str, mounts: str) -> None:
        self.root = root
        (root / "proc/self").mkdir(parents=True)
        (root / "proc/self/cgroup").write_text(group)
        (root / "proc/self/mountinfo").write_text(mounts)

    def write(self, directory: str, **files: str) -> None:
        where = self.root / "sys/fs/cgroup" / directory
        where.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (where / name.replace("__", ".")).write_text(text)


class TestVersion2:
    def test_of_a_container_is_at_the_mount(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path, "0::/\n", NEW.format(path="/"))
        machine.write(
            ".",
            cpu__max="50000 100000\n",
            cpu__stat=(
                "usage_usec 2500000\nuser_usec 1\n"
                "nr_periods 70\nnr_throttled 7\nthrottled_usec 4500000\n"
            ),
            memory__max="3221225472\n",
        )
        assert cpu_quota(tmp_path) == 0.5
        assert cpu_used_s(tmp_path) == 2.5
        assert throttling(tmp_path) == {
            "quota_periods": 70,
            "quota_throttles": 7,
            "throttled_s": 4.5,
        }
        assert memory_limit(tmp_path) == 3 * 2**30

    def test_the_tightest_quota_counts_of_the_group_and_those_above(self, tmp_path: Path) -> None:
        machine = Machine(tmp_path, "0::/system.slice/spark.service\n", NEW.format(path="/"))
        machine.write(
            "system.slice",
            cpu__max="150000 100000",
            cpu__stat="nr_periods 5\nnr_throttled 1",
            memory__max="1073741824",
        )
        machine.write(
            "system.slice/spark.service",
            cpu__max="max 100000",
            cpu__stat="usage_usec 1000000\nnr_periods 0\nnr_throttled 0",
            memory__max="max",
            memory__high="805306368",
        )
        assert cpu_quota(tmp_path) == 1.5
        assert cpu_used_s(tmp_path) == 1.0
        assert throttling(tmp_path) == {"quota_periods": 5, "quota_throttles": 1}
        assert memory_limit(tmp_path) == 3 * 2**28

    @pytest.mark.parametrize("name", ["a\x0bb", "a\u2028b", "a\rb", "a\x1cb"])
    def test_a_mount_or_group_with_a_strange_name_hides_no_quota(
        self, tmp_path: Path, name: str
    ) -> None:
        strange = f"30 23 0:9 / /mnt/{name} rw - fuse.x me@h: rw\n"
        machine = Machine(tmp_path, "0::/\n", f"{strange}{NEW.format(path='/')}")
        machine.write(".", cpu__max="50000 100000\n")
        assert cpu_quota(tmp_path) == 0.5


class TestVersion1:
    def test_of_a_container_is_at_the_mount_though_its_path_is_that_of_the_machine(
        self, tmp_path: Path
    ) -> None:
        path = "/docker/27918f5727af"
        machine = Machine(
            tmp_path,
            f"3:memory:{path}\n2:cpuacct:{path}\n1:cpu:{path}\n0::/\n",
            "".join(OLD.format(path=path, name=name) for name in ("cpuacct", "cpu", "memory")),
        )
        machine.write(
            "cpu",
            cpu__cfs_quota_us="25000",
            cpu__cfs_period_us="50000",
            cpu__stat="nr_periods 9\nnr_throttled 3\nthrottled_time 1500000000\n",
        )
        machine.write("memory", memory__limit_in_bytes="536870912\n")
        machine.write("cpuacct", cpuacct__usage="1500000000\n")
        assert cpu_quota(tmp_path) == 0.5
        assert cpu_used_s(tmp_path) == 1.5
        assert throttling(tmp_path) == {
            "quota_periods": 9,
            "quota_throttles": 3,
            "throttled_s": 1.5,
        }
        assert memory_limit(tmp_path) == 2**29

    def test_without_a_quota_has_none(self, tmp_path: Path) -> None:
        mounts = OLD.format(path="/", name="cpu") + OLD.format(path="/", name="memory")
        machine = Machine(tmp_path, "2:memory:/\n1:cpu:/\n", mounts)
        machine.write(
            "cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000", cpu__stat="nr_periods 0\n"
        )
        machine.write("memory", memory__limit_in_bytes="9223372036854771712\n")
        assert (cpu_quota(tmp_path), memory_limit(tmp_path)) == (None, None)
        assert throttling(tmp_path) == {}
        assert cpu_used_s(tmp_path) is None

    def test_that_is_joined_with_another_controller_is_found(self, tmp_path: Path) -> None:
        machine = Machine(
            tmp_path,
            "4:cpu,cpuacct:/a/b\n",
            "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
        )
        machine.write("cpu,cpuacct/a", cpu__cfs_quota_us="100000", cpu__cfs_period_us="100000")
        machine.write("cpu,cpuacct/a/b", cpuacct__usage="2000000000")
        assert cpu_quota(tmp_path) == 1
        assert cpu_used_s(tmp_path) == 2


@pytest.mark.parametrize(
    ("cpus", "found"),
    [("0-3,8", None), ("0-63", None), ("2,8-63", 2)],  # also what is not there
)
def test_what_a_cpuset_or_taskset_leaves_is_what_the_process_may_use(
    tmp_path: Path, cpus: str, found: int | None
) -> None:
    machine = Machine(tmp_path, "", "")
    machine.write("../../devices/system/cpu", online="0-3,8\n")
    lists = f"Cpus_allowed:\tf\nCpus_allowed_list:\t{cpus}\n"
    (tmp_path / "proc/self/status").write_text(f"Name:\tsh\n{lists}")
    assert cpu_allowed(tmp_path) == found


@pytest.mark.parametrize("group", ["", "0::/\n", "0::/../outside\n", "1:cpu:/a\n"])
def test_what_cannot_be_seen_is_unknown(tmp_path: Path, group: str) -> None:
    Machine(tmp_path, group, NEW.format(path="/"))
    assert (cpu_quota(tmp_path), cpu_used_s(tmp_path)) == (None, None)
    assert (cpu_allowed(tmp_path), memory_limit(tmp_path)) == (None, None)
