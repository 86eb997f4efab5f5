"""The stacks of task threads: found in a real dump, counted by task, and asked of who would answer."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.node import stacks
from harness.node.stacks import (
    WORKER_RUNS,
    WORKER_WAITS,
    Kernel,
    Silent,
    Stacks,
    attached,
    dump,
    task_threads,
)
from tests.unit.probe_builders import output


class Knowing(Kernel):
    """A kernel in which all threads are in the same state, and Python workers run or not."""

    def __init__(self, state: str | None, wait: str = "", workers: Sequence[bool] = ()) -> None:
        super().__init__(0)
        self._state, self._wait, self._workers = state, wait, workers

    def state(self, thread: int) -> str | None:
        return self._state

    def wait(self, thread: int) -> str:
        return self._wait

    def workers(self) -> Iterator[bool]:
        return iter(self._workers)


DUMP = output("threads-java17.txt")


def test_every_task_thread_of_a_dump_has_its_stage_task_thread_and_frames() -> None:
    [first, second] = task_threads(DUMP)
    assert [thread[:4] for thread in (first, second)] == [
        (9, 19, 0x2AE8, "RUNNABLE"),
        (9, 18, 0x2AE9, "RUNNABLE"),
    ]
    frames = first[4]
    assert frames[0] == "org.apache.spark.util.Utils$.tryWithSafeFinally"
    assert "org.apache.spark.scheduler.ShuffleMapTask.runTask" in frames
    assert not any("(" in name or "/0x" in name for name in frames)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("a.B$$Lambda$3220/0x00007fa5bd055860.apply(Unknown Source)", "a.B$$Lambda.apply"),
        ("a.B$$Lambda/0x00007fa5bd055860.apply(Unknown Source)", "a.B$$Lambda.apply"),
        ("a.B$$Lambda$12/1234567.apply(Unknown Source)", "a.B$$Lambda.apply"),
        (
            "java.lang.invoke.LambdaForm$DMH/0x0000000800c9d400.invoke(java.base@17/LambdaForm$DMH)",
            "java.lang.invoke.LambdaForm$DMH.invoke",
        ),
        (
            "jdk.internal.reflect.GeneratedMethodAccessor12.invoke(Unknown Source)",
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
        ),
    ],
)
def test_frames_have_the_same_name_in_every_process(printed: str, name: str) -> None:
    thread = (
        '"Executor task launch worker for task 0.0 in stage 1.0 (TID 2)" #9 [77] daemon prio=5 nid=77 '
        f"runnable\n   java.lang.Thread.State: RUNNABLE\n\tat {printed}\n"
        "\tat org.apache.spark.executor.Executor$TaskRunner.run(Executor.scala:9)\n"
    )
    assert list(task_threads(thread)) == [(1, 2, 77, "RUNNABLE", [name])]


@pytest.mark.parametrize(
    ("state", "expected"), [("R", [1, 0]), ("S", [0, 1]), ("D", [0, 1]), (None, [1, 0])]
)
def test_a_thread_waits_if_the_kernel_says_so_whatever_java_calls_it(
    state: str | None, expected: list[int]
) -> None:
    counted = Stacks()
    counted.add(DUMP, Knowing(state))
    assert [[counts for _, *counts in seen] for _, _, seen in counted.tree()["tasks"]] == [
        [expected],
        [expected],
    ]


def innermost(text: str, kernel: Kernel) -> list[str]:
    """Return the innermost frame of each task of a dump."""
    counted = Stacks()
    counted.add(text, kernel)
    tree = counted.tree()
    return [tree["frames"][tree["frame_of"][seen[0][0] - 1]] for _, _, seen in tree["tasks"]]


def test_a_native_wait_has_the_function_of_the_kernel_as_its_innermost_frame() -> None:
    waits = innermost(DUMP, Knowing("S", "do_epoll_wait"))
    assert waits == ["[kernel: do_epoll_wait]"] * 2
    assert "[kernel: " not in "".join(innermost(DUMP, Knowing("R", "do_epoll_wait")))
    assert "[kernel: " not in "".join(innermost(DUMP, Knowing("S")))


def asking_python(task: int, java_state: str = "RUNNABLE") -> str:
    name = f"Executor task launch worker for task {task}.0 in stage 1.0 (TID {task})"
    return (
        f'"{name}" #9 daemon nid=77 runnable\n'
        f"   java.lang.Thread.State: {java_state}\n"
        "\tat sun.nio.ch.EPoll.wait(java.base@17/Native Method)\n"
        "\tat org.apache.spark.api.python.BasePythonRunner$ReaderInputStream.read(PythonRunner.scala:9)\n"
        "\tat org.apache.spark.executor.Executor$TaskRunner.run(Executor.scala:9)\n"
    )


def test_as_many_tasks_wait_for_a_worker_that_runs_as_workers_run() -> None:
    text = "\n".join(map(asking_python, range(4)))
    kernel = Knowing("S", "do_epoll_wait", [True, False, False])
    reads = "sun.nio.ch.EPoll.wait"
    assert innermost(text, kernel) == [WORKER_RUNS, WORKER_WAITS, WORKER_WAITS, reads]
    parked = asking_python(1, "WAITING")
    assert innermost(parked, kernel) == [reads]


BUSY_CHILD = """
import os
parent = os.getpid()
if os.fork():
    os.wait()
print(flush=True)
while os.getppid() == parent:
    pass
"""


def test_the_kernel_finds_workers_as_children_of_the_daemon() -> None:
    with subprocess.Popen([sys.executable, "-c", BUSY_CHILD], stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout
        daemon.stdout.readline()
        kernel = Kernel(os.getpid())
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            pytest.skip("this kernel does not list the children of a process")
        assert True in kernel.workers()
        assert kernel.state(os.getpid()) == "R"
        daemon.terminate()
    assert list(Kernel(2**22 + 1).workers()) == []


def test_stacks_share_the_frames_that_they_have_in_common() -> None:
    counted = Stacks()
    for _ in range(3):
        counted.add(DUMP, Knowing("R"))
    tree = counted.tree()
    assert [parent <= number for number, parent in enumerate(tree["parents"])].count(False) == 0
    assert len(tree["parents"]) < sum(len(frames) for *_, frames in task_threads(DUMP))
    assert [sum(running for _, running, _ in seen) for _, _, seen in tree["tasks"]] == [3, 3]
    assert [task for _, task, _ in tree["tasks"]] == [19, 18]


class TestWhoIsAsked:
    def test_what_is_no_socket_is_not_asked(self, tmp_path: Path) -> None:
        (tmp_path / ".java_pid7").write_text("not a socket")
        with pytest.raises(Silent, match="another user's"):
            attached(7, tmp_path)

    def test_another_process_behind_the_name_is_not_believed(self, tmp_path: Path) -> None:
        address = str(tmp_path / ".java_pid1")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            with pytest.raises(Silent, match="another process answers"):
                dump(address, os.getpid() + 1)

    def test_without_a_virtual_machine_there_is_a_reason(self) -> None:
        started = stacks.start(None, "")
        assert stacks.stop(started) == {"error": "no virtual machine is known"}

    def test_a_process_that_is_no_virtual_machine_lives_on_and_its_answer_has_a_reason(
        self,
    ) -> None:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            started = stacks.start(other.pid, Path(stacks.__file__).read_text())
            assert stacks.is_here(started, other.pid)
            answer = stacks.stop(started)
            assert other.poll() is None
            other.send_signal(signal.SIGTERM)
        assert answer["error"] == "it does not listen to SIGQUIT (-Xrs?)"
        assert (answer["dumps"], answer["tasks"]) == (0, [])
        assert not Path(started["directory"]).exists()


def test_a_thread_that_is_idle_and_still_named_after_its_last_task_is_no_task() -> None:
    idle = (
        '"Executor task launch worker for task 0.0 in stage 1.0 (TID 7)" #9 daemon cpu=1ms nid=0x9 waiting\n'
        "   java.lang.Thread.State: WAITING (parking)\n"
        "\tat jdk.internal.misc.Unsafe.park(java.base/Native Method)\n"
        "\tat java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1062)\n"
    )
    assert list(task_threads(idle)) == []
