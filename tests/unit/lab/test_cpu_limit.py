"""The workers' CPU limit is lifted while programs start, and set and verified before measurements."""

from __future__ import annotations

import pytest

from harness.lab import lifecycle
from harness.lab.cluster import Lab, Node
from harness.lab.cpu_limit import cpu_limit_lifted, set_cpu_limit
from harness.lab.shape import Shape
from harness.model.errors import ClusterliftError

from .conftest import Install, limit_of

LAB = Lab(tuple(Node(n, n, "running") for n in ("master", "worker-1", "worker-2")), "hdfs", 0.5)
SHAPE = Shape(2, 0.5, "hdfs")


class TestCpuLimit:
    def test_is_lifted_to_all_processors_and_set_again(self, fake_docker: Install) -> None:
        state = fake_docker()
        with cpu_limit_lifted(LAB):
            assert limit_of(state) == 8
        assert limit_of(state) == 0.5
        updates = [line for line in (state / "log").read_text().splitlines() if "update" in line]
        assert updates == [
            "update --cpus 8 worker-1 worker-2",
            "update --cpus 0.5 worker-1 worker-2",
        ]

    def test_is_set_again_after_an_error(self, fake_docker: Install) -> None:
        state = fake_docker()
        with pytest.raises(ZeroDivisionError), cpu_limit_lifted(LAB):
            raise ZeroDivisionError
        assert limit_of(state) == 0.5

    def test_that_is_right_already_is_not_set(self, fake_docker: Install) -> None:
        state = fake_docker()
        set_cpu_limit(LAB, 0.5)
        assert "update" not in (state / "log").read_text()

    def test_that_docker_does_not_apply_is_an_error(self, fake_docker: Install) -> None:
        fake_docker(update="limit.write_text('0')")
        with pytest.raises(ClusterliftError) as error:
            set_cpu_limit(LAB, 2)
        assert str(error.value) == (
            "the workers should be limited to 2 processors, but Docker reports: "
            "worker-1 0, worker-2 0 (0 is no limit)"
        )

    def test_that_cannot_be_set_is_an_error(self, fake_docker: Install) -> None:
        fake_docker(update="sys.exit('no such controller: cpu')")
        with pytest.raises(
            ClusterliftError,
            match=r"^cannot limit the workers to 2 processors: docker update failed: no such cont",
        ):
            set_cpu_limit(LAB, 2)


class TestUp:
    def test_a_lab_starts_without_the_limit_and_is_ready_with_it(
        self, fake_docker: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state = fake_docker()
        limits = []

        class FakeCompose:
            def __init__(self, *_: object) -> None: ...
            def build(self) -> None: ...
            def up(self) -> None: ...

        for name, fake in {
            "compose_program": lambda: ["docker-compose"],
            "find_lab": lambda: None,
            "check_ports": lambda: None,
            "free_bytes": lambda: None,
            "Compose": FakeCompose,
            "running_lab": lambda: LAB,
            "_set_up_links": lambda *_: None,
            "_wait_until_ready": lambda: limits.append(limit_of(state)),
        }.items():
            monkeypatch.setattr(lifecycle, name, fake)
        assert lifecycle.up(SHAPE)
        assert limits == [8]
        assert limit_of(state) == 0.5

    def test_a_limit_that_a_killed_command_left_lifted_is_set_again(
        self, fake_docker: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state = fake_docker()
        set_cpu_limit(LAB, 8)
        monkeypatch.setattr(lifecycle, "compose_program", lambda: ["docker-compose"])
        monkeypatch.setattr(lifecycle, "find_lab", lambda: LAB)
        assert not lifecycle.up(SHAPE)
        assert limit_of(state) == 0.5
