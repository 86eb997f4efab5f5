"""Explained changes as they are printed: golden files, and properties of any explanation."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import compare
from harness.analysis.explain.attribution import PARTS, Explanation, explain
from harness.analysis.explain.timeline import disk_uses, link_uses, trial_disks, trial_links
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.commands.cli import main
from harness.eventlog.application import APPLICATION, WRITTEN_BY
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ProbeRun
from harness.model.run import InputReader, RecordedRun, Trial
from harness.model.task_metrics import DiskBytes, NodeBytes, Stragglers, WireBytes, WrittenBytes
from harness.model.timeline import Stage
from harness.present.attribution_tables import divided_table
from harness.present.quantities import size_text
from harness.present.text import fits
from harness.records.writer import record_all
from tests.refusal import refusal
from tests.unit.builders import a_run, assert_golden, failed, in_runs, ok, recorded
from tests.unit.metrics_builders import received, timed
from tests.unit.printed import printed_explanation, printed_run
from tests.unit.timeline_builders import a_node, a_timeline, mbit

NOISE = (0.0, 0.02, -0.01, 0.01, -0.02, 0.03)
GB = 1_000_000_000


def trials(workload: str, wall_s: float, **more: Any) -> list[Trial]:
    """Return six trials with slightly different times and the same task metrics."""
    return [
        replace(timed(workload, wall_s * (1 + noise), **more), round=number)
        for number, noise in enumerate(NOISE, 1)
    ]


def a_side(configuration: str, *of: Sequence[Trial], **fields: Any) -> RecordedRun:
    return recorded(a_run(configuration, **fields), [trial for each in of for trial in each])


def explanation(before: RecordedRun, after: RecordedRun) -> Explanation:
    """Explain the change between two sides of one run each."""
    return explain(
        compare([ConfigurationRuns(side.run.configuration, (side,)) for side in (before, after)])
    )


def explanation_of_two_runs_each(before: RecordedRun, after: RecordedRun) -> Explanation:
    """Explain the change between two sides whose trials are of two runs each."""
    sides = (ConfigurationRuns(side.run.configuration, (side,)) for side in (before, after))
    return explain(compare([in_runs(side) for side in sides]))


def plain() -> Explanation:
    """A shuffle that waits less, a workload that only reads and does not change, and a control."""
    near = {"NODE_LOCAL": 96 * GB, "ANY": 4 * GB}
    return explanation_of_two_runs_each(
        a_side(
            "1g-rs",
            trials(
                "repartition", 20.0, slots=4, fetch_wait_s=36.0, cpu_s=20.0, shuffle_write_s=8.0,
                unattributed_s=10.0, deserialization_s=0.4, result_s=0.04, scheduler_delay_s=0.8,
                stragglers=Stragglers(3.0, 2.0),
                input_bytes_by_locality=near, shuffle_remote_bytes=60 * GB,
                wire=received(60 * GB, 10 * GB, 2 * GB),
            ),
            trials(
                "sha-512", 12.0, slots=4, cpu_s=30.0, unattributed_s=15.0, stragglers=Stragglers(3.0, 2.9),
                input_bytes_by_locality=near, wire=received(5 * GB),
            ),
            trials(
                "calc-pi-dataframe", 5.0, slots=4, cpu_s=19.0
            ),
        ),
        a_side(
            "2.5g-rs",
            trials(
                "repartition", 12.5, slots=4, fetch_wait_s=8.0, cpu_s=20.4, shuffle_write_s=8.0,
                unattributed_s=9.0, deserialization_s=0.4, result_s=0.04, scheduler_delay_s=0.8,
                stragglers=Stragglers(2.2, 2.0),
                input_bytes_by_locality=near, shuffle_remote_bytes=60 * GB,
                wire=received(60 * GB, 10 * GB, 2 * GB),
            ),
            trials(
                "sha-512", 11.95, slots=4, cpu_s=30.1, unattributed_s=15.0, stragglers=Stragglers(3.0, 2.9),
                input_bytes_by_locality={"NODE_LOCAL": 40 * GB, "ANY": 60 * GB},
                wire=received(6 * GB),
            ),
            trials(
                "calc-pi-dataframe", 5.0, slots=4, cpu_s=19.0
            ),
        ),
    )  # fmt: skip


def troubled() -> Explanation:
    """Few trials, emulation, failures, missing metrics, cut-off logs, unread nodes, long names."""
    emulated = {"emulated": "links shaped by tbf"}
    return explanation(
        a_side(
            "1g-ethernet-with-jumbo-frames-and-replication",
            [timed("repartition", 1234.5, slots=1, fetch_wait_s=900.0, cpu_s=300.0)],
            [timed("calc-pi-python-udf", 9.0, slots=1, python_worker_s=None, unattributed_s=8.0)],
            [ok("a-workload-whose-name-is-longer-than-any", 3.0)],
            [timed("group-by", 3.0, cpu_s=1.0), failed("group-by")],
            [timed("sha-512", 3.0)],
            facts=emulated,
        ),
        a_side(
            "2.5g",
            [
                timed(
                    "repartition", 1334.5, slots=1, fetch_wait_s=850.0, cpu_s=300.0,
                    unattributed_s=140.0, failed_tasks=3, speculative_tasks=1,
                    incomplete="jobs without an end: 1; tasks without an end: 7",
                    input_bytes_by_locality={"PROCESS_LOCAL": 5 * GB},
                    shuffle_remote_bytes=2 * GB, wire=received(GB, unread=("n3", "n4")),
                ),
                ok("repartition", 1334.5),
            ],
            [timed("calc-pi-python-udf", 8.0, slots=1, python_worker_s=7.0, unattributed_s=0.5)],
            [timed("a-workload-whose-name-is-longer-than-any", 2.0)],
            [failed("group-by", "SparkException: stage 3 was cancelled")],
        ),
    )  # fmt: skip


def hostile() -> Explanation:
    """Control characters and markup, as a results file from elsewhere may contain them."""
    name, configuration = "\x1b[31mred\nline", "<b>\u202e"
    return explanation(
        a_side(configuration, trials(name, 2.0, cpu_s=1.0)),
        a_side("=1+1", trials(name, 1.0, cpu_s=0.5, incomplete="\x1b[2J")),
    )


SCENARIOS = {"plain": plain, "troubled": troubled, "hostile": hostile}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_golden(scenario: str) -> None:
    assert_golden(f"explanation-{scenario}.txt", printed_explanation(SCENARIOS[scenario]()))


def test_show_prints_where_the_time_of_a_run_went() -> None:
    assert_golden("show-time.txt", printed_run(plain().comparison.columns[0].runs[0]))


def test_show_wraps_and_cuts_what_is_long() -> None:
    options = a_side("1g", environment={"spark.driver.extraJavaOptions": "--add-opens=x " * 100})
    printed = printed_run(options)
    assert printed.count("--add-opens=x") < 30
    assert all(len(line) <= 100 for line in printed.split("\n"))


def test_a_trial_whose_log_was_cut_off_says_so() -> None:
    printed = " ".join(printed_run(troubled().comparison.columns[1].runs[0]).split())
    assert "the event log is incomplete (jobs without an end: 1;" in printed


def full_links() -> str:
    """Return the explanation of a join whose link and disk are full for less time, and of what is unknown."""
    stages = (
        Stage("reads data, writes shuffle", 0.0, 12.0),
        Stage("reads shuffle, writes shuffle", 12.0, 20.0),
    )
    sides, uses, disks = [], [], []
    for name, rate, full in (("1g-rs", 940, 14), ("2.5g-rs", 2350, 3)):
        received = mbit(*[rate] * full, *[rate // 3] * (20 - full))
        timeline = a_timeline(
            a_node(
                *("10.99.0.12", received, mbit(*[10] * 20)),
                disk_busy=[100] * (full - 3) + [30] * (23 - full),
                busiest_disk="sda",
            ),
            slices=20,
            stages=stages,
        )
        side = a_side(
            name,
            [replace(t, timeline=timeline) for t in trials("inner-join", 20.0, cpu_s=5.0)],
            [replace(t, timeline=timeline) for t in trials("broadcast-inner-join", 20.0)]
            if full == 3
            else trials("broadcast-inner-join", 20.0),
        )
        probes = [MESH_GOODPUT.of(("10.99.0.12", "n2"), rate * 1e6)] if full == 14 else []
        configuration = ConfigurationRuns(name, (side,))
        sides.append(configuration)
        uses.append(link_uses(trial_links(configuration, probes)))
        disks.append(disk_uses(trial_disks(configuration)))
    return printed_explanation(explain(compare(sides)), uses, disks)


def test_golden_of_full_links() -> None:
    assert_golden("explanation-full-links.txt", full_links())


def writes() -> str:
    """A workload that writes twice as fast to coded files, and one of whose bytes little is known."""
    sides = []
    for name, layout, stored, sent in (
        ("2x", "replicated:2", 2, 1),
        ("6+3", "rs:6+3:64k", 1.52, 1.36),
    ):
        files = WrittenBytes(layout, 10 * GB, round(stored * 10 * GB))
        wire = WireBytes((NodeBytes("n1", 9 * GB, round(sent * 10 * GB) + 2 * GB),))
        known: dict[str, Any] = {
            "written": files,
            "disk": DiskBytes(0, 4 * GB),
            "input_read_by": InputReader.STORAGE,
        }
        tasks: dict[str, Any] = {
            "output_bytes": 10 * GB,
            "shuffle_remote_bytes": 2 * GB,
            "cpu_s": 9.0,
        }
        write = trials("sort-write", 40.0 - 10 * stored, wire=wire, slots=4, **tasks)
        unknown = WrittenBytes("unknown", 10 * GB, None)
        other = trials("write", 20.0, slots=4, output_bytes=10 * GB)
        sides.append(
            a_side(
                name,
                [replace(trial, **known) for trial in write],
                [replace(trial, written=unknown) for trial in other],
            )
        )
    return printed_explanation(explanation_of_two_runs_each(*sides))


def test_golden_of_writes() -> None:
    assert_golden("explanation-writes.txt", writes())


class TestSentence:
    def test_says_once_of_workloads_in_streams_that_their_change_is_not_divided(self) -> None:
        sides = (
            a_side(name, trials("streams-2", 4.0, cpu_s=1.0), [ok("a", took_s)], [ok("b", took_s)])
            for name, took_s in (("1g", 3.0), ("2.5g", 2.0))
        )
        printed = " ".join(printed_explanation(explanation(*sides)).split())
        assert printed.count("not divided") == 1
        assert "not divided, no task metrics before and after: a, b" in printed


class TestQuantity:
    @pytest.mark.parametrize(
        ("count", "written"),
        [
            (0, "0"),
            (1, "1 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_960, "10 kB"),
            (54_400, "54 kB"),
            (999_499, "999 kB"),
            (999_600, "1.0 MB"),
            (-1_234_000_000, "-1.2 GB"),
            (5e17, "500 PB"),
            (5e19, "50000 PB"),
        ],
    )
    def test_bytes(self, count: float, written: str) -> None:
        assert size_text(count) == written


SECONDS = st.integers(0, 10**15).map(lambda ns: ns / 1e9)
SIDE = st.lists(
    st.builds(
        timed,
        st.sampled_from(["group-by", "broadcast-inner-join", "x" * 40]),
        st.floats(0.001, 1e6),
        wire=st.none() | st.builds(received, st.integers(0, 10**15)),
        slots=st.sampled_from([0.5, 2, 48, None]),
        fetch_wait_s=SECONDS,
        cpu_s=SECONDS,
        shuffle_write_s=SECONDS,
        python_worker_s=st.none() | SECONDS,
        unattributed_s=SECONDS,
        deserialization_s=SECONDS,
        result_s=SECONDS,
        scheduler_delay_s=SECONDS,
    ),
    max_size=6,
)


def test_a_name_is_shortened_for_its_footnote_mark_if_numbers_are_long() -> None:
    name = "broadcast-inner-join"
    parts_s = {part: 12.34 * (-1) ** number for number, part in enumerate(PARTS)}
    sides = (a_side(each, trials(name, 50.0)) for each in ("1g", "2.5g"))
    [row] = explanation(*sides).rows
    rows = [replace(row, change_s=-45.67, parts_s=parts_s)]
    for mark, printed_name in (("", name), ("¹²", "broadcas…er-join¹²")):
        table, _ = divided_table(rows, {name: mark})
        assert fits(table)
        assert [row[0] for row in table.rows] == [printed_name]


def test_an_application_is_not_added_to_its_executions() -> None:
    logged: dict[str, Any] = {
        "workloads": ("nightly", "load", "save"),
        "written_by": WRITTEN_BY,
        "parameters": {APPLICATION: "nightly"},
    }
    sides = []
    for name, factor in (("old", 2), ("new", 1)):
        times_s = {"nightly": 50.0, "load": 30.0, "save": 20.0}
        sides.append(
            a_side(name, *(trials(each, factor * s) for each, s in times_s.items()), **logged)
        )
    printed = printed_explanation(explanation_of_two_runs_each(*sides))
    assert "nightly: -50." in printed
    assert "workloads changed" not in printed


def test_a_part_that_is_unknown_everywhere_is_not_said_to_be_unchanged() -> None:
    lasted: dict[str, Any] = {"slots": 1, "python_worker_s": None, "unattributed_s": 8.0}
    sides = (a_side(each, [timed("join", 9.0, **lasted)]) for each in ("1g", "2.5g"))
    _, caption = divided_table(explanation(*sides).rows, {"join": ""})
    assert "shuffle write" in caption.text
    assert "Python worker" not in caption.text


class TestAny:
    ALWAYS = timed("group-by", 1.0)

    @given(SIDE, SIDE)
    def test_fits_the_terminal(self, before: list[Trial], after: list[Trial]) -> None:
        sides = [a_side(name, [self.ALWAYS, *of]) for name, of in (("1g", before), ("2.5g", after))]
        assert all(
            len(line) <= 100 for line in printed_explanation(explanation(*sides)).split("\n")
        )

    @given(SIDE, SIDE)
    def test_printed_parts_add_up_to_the_printed_change(
        self, before: list[Trial], after: list[Trial]
    ) -> None:
        sides = [a_side(name, [self.ALWAYS, *of]) for name, of in (("1g", before), ("2.5g", after))]
        rows = explanation(*sides).rows
        table, _ = divided_table(rows, dict.fromkeys((row.workload for row in rows), ""))
        for _, change, *parts in table.rows:
            if parts[-1] != "-":
                known = [Decimal(part) for part in parts if part != "-"]
                assert Decimal(change.lstrip("~")) == sum(known)


class TestCommand:
    def test_finds_the_probes_beside_the_runs(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """So it says for how long the link was full, and of what."""
        timeline = a_timeline(a_node("n1", mbit(*[90] * 15, *[0] * 5), mbit(*[0] * 20)), slices=20)
        for name in ("1g", "2.5g"):
            of_side = [replace(trial, timeline=timeline) for trial in trials("join", 20.0)]
            record_all(tmp_path, a_side(name).run, of_side)
        goodput = [MESH_GOODPUT.of(pair, 94e6) for pair in (("n1", "n2"), ("n2", "n1"))]
        record_all(tmp_path, ProbeRun("1g", ("n1", "n2")), goodput)
        assert main(["explain", "1g", "2.5g", "--details", "--results", str(tmp_path)]) == 0
        printed = " ".join(capfd.readouterr().out.split())
        assert "join before n1 between stages 15.1 s 75% receives" in printed
        assert "Links carry in 1g: 94.0 Mbit/s (measured by probes)" in printed
        assert (
            "It is unknown how much links carry in 2.5g; measure it with: clusterlift probe"
            in printed
        )

    def test_the_answer_has_what_is_significant_in_the_table_and_the_controls_together(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        rates = str(Path(__file__).parents[3] / "results/ethernet-upgrade")
        assert main(["compare", "1g-rs", "2.5g-rs", "--format", "json", "--results", rates]) == 0
        table = json.loads(capfd.readouterr().out)["workloads"]
        changes = {row["workload"]: row["cells"][1]["change"] for row in table}
        noise = {name: change["verdict"] == "noise" for name, change in changes.items() if change}
        assert set(noise.values()) == {True, False}
        assert main(["explain", "1g-rs", "2.5g-rs", "--results", rates]) == 0
        printed = capfd.readouterr().out
        controls = re.findall(r"[a-z0-9-]+", re.split("of controls: |\n\n", printed)[2])
        assert noise == {name: f"\n{name}: ~" in printed or name in controls for name in noise}
        assert "5 workloads changed, in all by -10.4 s, -7.26 s of it in the file system" in printed
        assert "inner-join: -2.78 s" in printed
        assert "a link was full for 79 % of the time before, 17 % after" in printed
        assert "rest" not in printed

    def test_a_mistake_is_one_line_and_exit_code_2(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        record_all(Path("results"), a_run("old"), [ok("pi", 1.0)])
        refused = refusal("explain", "old", "old")
        assert "with run run-of-old, is given twice; name it once" in refused
