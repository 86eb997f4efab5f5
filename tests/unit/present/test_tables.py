"""Tables in every format, compared with golden files, and properties of every table."""

import json
import math
import re
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import Comparison, compare, overview
from harness.analysis.compare.probe_comparison import compare_probes
from harness.base.words import display_width, shorten, visible
from harness.commands.compare import FORMATS
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.run import MAX_WALL_S, MIN_WALL_S, Ending, Phase
from harness.present import comparison_json, quantities, text
from harness.present.blocks import Paragraph, Sentences
from harness.present.comparison_table import comparison_table
from harness.present.footnotes import Footnotes
from harness.present.grid import WIDTH, fill
from harness.present.probe_table import probe_table
from tests.unit.builders import (
    SIX,
    a_run,
    assert_golden,
    column,
    configured,
    failed,
    in_runs,
    of_runs,
    ok,
    recorded,
    scaled,
)
from tests.unit.printed import markdown_table, printed_run, printed_table
from tests.unit.probe_builders import probed

WORKLOADS = ("group-by", "broadcast-inner-join", "sha-512", "calc-pi-dataframe")
every_format = pytest.mark.parametrize("format_", FORMATS)


def plain() -> Comparison:
    """Three configurations without incidents, each a single run with equal numbers of trials."""
    sides = (
        ("1g-rs", (547.5, 541.1, 553.2), (9.9, 10, 10.8)),
        ("2.5g-rs", (495.6, 495, 500), (9.95, 9.9, 10)),
        ("2.5g-2x", (345.6, 344, 349), (0.95, 0.94, 1)),
    )
    return compare(
        [
            column(name, {"group-by": group_by, "calc-pi-dataframe": pi})
            for name, group_by, pi in sides
        ]
    )


def troubled() -> Comparison:
    """Unequal n, n = 1, some and all trials failed, missing, omitted, killed, emulated."""
    before = configured(
        "1g-rs",
        [
            ok("group-by", 20.25, phase=Phase.WARM_UP),
            *(ok("group-by", wall_s) for wall_s in (10.25, 10.5, 11.0)),
            ok("broadcast-inner-join", 4.5),
            failed("broadcast-inner-join", "SparkException: stage 3 was cancelled"),
            ok("broadcast-inner-join", 4.75),
            ok("sha-512", 0.875),
            failed("calc-pi-dataframe"),
            failed("calc-pi-dataframe"),
        ],
        workloads=WORKLOADS,
        facts={"emulated": "links shaped by tbf"},
    )
    after = configured(
        "2.5g-rs",
        [ok("group-by", 9.75), ok("broadcast-inner-join", 5.0), ok("calc-pi-dataframe", 2.0)],
        ending=None,
        warnings=("results/2.5g-rs/run.jsonl:9: the last line is cut off and was skipped",),
        workloads=WORKLOADS,
        omitted={"sha-512": "the dataset has no column to hash"},
    )
    later = configured("2.5g-2x", [ok("group-by", wall_s) for wall_s in (8.5, 8.0)])
    return compare([before, after, later])


def two_runs() -> Comparison:
    """The same trials as of two runs a side; everything is tested."""
    return compare([in_runs(column) for column in plain().columns])


def enough() -> Comparison:
    """Three runs of each: a change, noise, ties, identical samples."""
    sides = (
        ("1g-rs", 1, 1, (7, 7, 7, 8, 8, 8)),
        ("2.5g-rs", 0.9, 1.01, (6, 6, 7, 7, 7, 8)),
        ("2.5g-2x", 0.5, 0.995, (5, 5, 5, 5, 5, 6)),
    )
    return compare(
        [
            in_runs(
                column(
                    name,
                    {"changed": scaled(changed), "noise": scaled(noise), "ties": ties, "same": SIX},
                ),
                3,
            )
            for name, changed, noise, ties in sides
        ]
    )


def unequal() -> Comparison:
    """Unequal numbers of runs and trials; a workload of one run on one side or on both; a failure."""
    after = configured(
        "after",
        [
            *(ok("many-few", time) for time in scaled(0.5, SIX[:2])),
            *(ok("few-many", time) for time in scaled(0.5, SIX * 5)),
            ok("few-few", 5.0),
            *(ok("one-failed", time) for time in scaled(0.5)),
            failed("one-failed", "OSError: disk full"),
        ],
    )
    before = {"many-few": SIX * 3, "few-many": SIX[:1], "few-few": SIX[:1], "one-failed": SIX}
    return compare([in_runs(column("before", before), 3), in_runs(after, 2)])


def drifting(*, relative: bool = False) -> Comparison:
    """A machine that became 3 % slower, with a faster network."""
    controls = {"controls": ["calc-pi-dataframe", "sha-512-cached"]}
    before: dict[str, Sequence[float]] = {
        "group-by": SIX,
        "inner-join": (20.0, 20.4, 20.2, 20.5, 20.1, 20.6),
        "calc-pi-dataframe": (5.0, 5.05, 5.02, 5.01, 5.04, 5.06),
        "sha-512-cached": (7.0, 7.1, 7.05, 7.08, 7.02, 7.06),
    }
    factors = {"group-by": 0.8}
    after = {name: scaled(factors.get(name, 1.03), before[name]) for name in before}
    columns = [
        column("1g", before, parameters=controls),
        column("2.5g", after, parameters=controls),
    ]
    return compare([in_runs(each, 3) for each in columns], relative_to_controls=relative)


def beyond_controls() -> Comparison:
    """The same, with changes relative to the controls."""
    return drifting(relative=True)


def long_names() -> Comparison:
    """Long names that differ in the middle and at the ends."""
    names = [
        f"{link}-ethernet-with-jumbo-frames-and-{layout}-on-four-nodes"
        for link, layout in (("1g", "rs"), ("2.5g", "rs"), ("2.5g", "replication"))
    ]
    times_s = {"a-workload-whose-name-is-longer-than-any": [10.0, 10.1], "group-by": [5.0, 5.5]}
    return compare([column(name, times_s) for name in names])


def hostile_names() -> Comparison:
    """Names that a results file from somebody else may have."""
    names = [
        "a|b\nc",
        "<script>alert(1)</script>",
        "\x1b[31mred\x1b[0m",
        '=HYPERLINK("x")',
        "R&D,&lt;",
    ]
    workloads = {"*bold* `code` [x](y)": [1.0, 2.0], "\u202egnp.exe": [3.0], '"quoted"': [4.0]}
    return compare([column(name, workloads) for name in names])


SCENARIOS = {
    "plain": plain,
    "two-runs": two_runs,
    "troubled": troubled,
    "enough": enough,
    "unequal": unequal,
    "drifting": drifting,
    "beyond-controls": beyond_controls,
    "long-names": long_names,
    "hostile-names": hostile_names,
}


class TestGolden:
    @pytest.mark.parametrize("scenario", SCENARIOS)
    def test_tables(self, scenario: str) -> None:
        assert_golden(f"{scenario}-text.txt", printed_table(SCENARIOS[scenario]()))

    @every_format
    def test_formats(self, format_: str) -> None:
        table = comparison_table(troubled())
        assert_golden(f"troubled-{format_}.txt", FORMATS[format_]([table]))

    def test_json(self) -> None:
        assert_golden("troubled-json.txt", comparison_json.render(troubled()))

    def test_one_run(self) -> None:
        interrupted = recorded(
            a_run(
                "1g-rs",
                "20261121T134213Z-0a1b2c",
                workloads=("group-by", "sha-512", "calc-pi-arrow-udf"),
                parameters={"sink": "noop", "trials": 2, "warmup": 1, "repartition": None},
                facts={"switch": "unmanaged", "emulated": "links shaped by tbf"},
                environment={
                    "spark": {"version": "4.3.0", "conf": {"spark.master": "local[2]"}},
                    "nodes": [{"host": "n1", "mtu": 1500}, {"host": "n2", "mtu": None}],
                    "sysctls": {},
                    "jumbo": False,
                },
                dataset={
                    "recipe": {"name": "uuid", "seed": 1},
                    "rows": 1000,
                    "bytes": 75000,
                    "layout": {"requested": "rs:6+3:64k", "observed": "rs:6+3:64k"},
                },
                omitted={"calc-pi-arrow-udf": "pyarrow is not installed"},
            ),
            [
                ok("group-by", 29.0, phase=Phase.WARM_UP),
                ok("sha-512", 3.25, phase=Phase.WARM_UP),
                ok("group-by", 10.5),
                failed("sha-512", "WrongAnswer: \x1b[2J row 7"),
                ok("group-by", 10.0, 2),
                ok("sha-512", 2.5, 2),
            ],
            Ending.INTERRUPTED,
        )
        assert_golden("show.txt", printed_run(interrupted))

    def test_of_spark_what_differs_in_each_application_is_left_out(self) -> None:
        conf = {"spark.app.id": "digest:9f86", "spark.executor.memory": "4g"}
        printed = printed_run(recorded(a_run(environment={"spark_conf": conf})))
        assert "spark.executor.memory  4g" in printed
        assert "digest" not in printed

    def test_a_run_that_was_killed_at_once(self) -> None:
        assert_golden("show-empty.txt", printed_run(recorded(a_run(), ending=None)))


def test_runs_that_cannot_show_a_change_say_so_without_a_number() -> None:
    before = of_runs("a", [{"x": [1e-3]}, {"x": [1e3]}])
    caption = comparison_table(compare([before, column("b", {"x": [1.0]})])).caption
    assert "With one run on a side, a change of any size may be chance" in caption


def test_runs_of_unequal_numbers_of_trials_are_not_said_to_have_the_mean_number() -> None:
    """Five trials of one run and seven of the other are not two runs of six trials each."""
    sides = [of_runs(name, [{"x": [1.0] * n} for n in (5, 7)]) for name in "ab"]
    table = comparison_table(compare(sides))
    assert "trials each" not in table.caption
    assert [cell.n for cell in table.lines[0].cells] == ["12 in 2"] * 2


class TestQuantities:
    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [
            (3599.7, "1 h"),
            (3584.3, "59 min 44 s"),
            (1799.97, "30 min"),
            (7625, "2 h 07 min"),
            (1416.1, "1416.1 s"),
            (547.5, "547.5 s"),
            (10.8, "10.8 s"),
            (9.996, "10.0 s"),
            (9.994, "9.99 s"),
            (0.9996, "1.00 s"),
            (0.9994, "0.999 s"),
            (0, "0.000 s"),
            (-12.34, "-12.3 s"),
            (2e6, "555 h 33 min"),
            (1e300, ">9999 h"),
        ],
    )
    def test_time(self, seconds: float, shown: str) -> None:
        assert quantities.time_text(seconds) == shown

    @pytest.mark.parametrize(
        ("fraction", "shown"),
        [
            (None, ""),
            (0, "±0%"),
            (0.001, "±1%"),
            (0.01, "±1%"),
            (0.07, "±7%"),
            (0.011, "±2%"),
            (0.99, "±99%"),
            (0.991, "too few runs"),
            (1, "too few runs"),
            (26.41, "too few runs"),
            (1e9, "too few runs"),
            (math.inf, "too few runs"),
        ],
    )
    def test_uncertainty_is_rounded_up_unless_it_is_as_wide_as_the_value(
        self, fraction: float | None, shown: str
    ) -> None:
        assert quantities.uncertainty(fraction) == shown

    @pytest.mark.parametrize(
        ("fraction", "relative_change", "shown"),
        [
            (None, 0.5, ""),
            (0.03, -0.1, "±3%"),
            (1.2, 0.1, "too few runs"),
            (0.6, -0.5, "±60%"),
            (1.0, -0.5, "too few runs"),
            (1.2, 9.0, "±120%"),
            (10.0, 9.0, "too few runs"),
        ],
    )
    def test_the_uncertainty_of_a_change_is_wide_beside_the_longer_of_both_times(
        self, fraction: float | None, relative_change: float, shown: str
    ) -> None:
        assert quantities.uncertainty(fraction, relative_change) == shown

    @pytest.mark.parametrize(
        ("fraction", "shown"),
        [
            (-0.0948, "-9.5%"),
            (0.0948, "+9.5%"),
            (0, "0.0%"),
            (-0.0004, "0.0%"),
            (12.5, "+1250.0%"),
            (1e9, ">+999999%"),
        ],
    )
    def test_change_is_signed(self, fraction: float, shown: str) -> None:
        assert quantities.change(fraction) == shown

    @pytest.mark.parametrize(
        ("p", "shown"),
        [
            (1, "1"),
            (0.9999, "1"),
            (0.5, ".500"),
            (0.0173, ".017"),
            (0.001, ".001"),
            (1e-9, "<.001"),
        ],
    )
    def test_p_is_short(self, p: float, shown: str) -> None:
        assert quantities.p_text(p) == shown


class TestEscaping:
    @given(st.text(st.characters(exclude_categories=()), max_size=50))
    def test_an_escaped_text_is_one_printable_line(self, name: str) -> None:
        assert visible(name).isprintable()

    @given(st.text(max_size=50), st.integers(1, 60))
    def test_a_shortened_text_fits(self, name: str, width: int) -> None:
        assert display_width(shorten(name, width)) <= width

    def test_a_shortened_text_keeps_both_ends(self) -> None:
        assert shorten("1g-rs-on-four-nodes", 9) == "1g-r…odes"


TIMES_S = st.lists(st.floats(MIN_WALL_S, MAX_WALL_S), min_size=1, max_size=12)
SIMILAR_TIMES_S = st.lists(st.floats(min_value=500, max_value=550), min_size=6, max_size=6)
NAMES = st.text(st.characters(exclude_categories=()), min_size=1, max_size=80)


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    """Generate comparisons of any kind; the workload `shared` is in every configuration."""
    columns = []
    for number in range(draw(st.integers(2, 5))):
        name = draw(NAMES)
        trials = [ok("shared", wall_s) for wall_s in draw(TIMES_S)]
        for workload in draw(st.lists(NAMES, max_size=3)):
            trials += [ok(workload, wall_s) for wall_s in draw(TIMES_S)]
        trials += [failed(workload) for workload in draw(st.lists(NAMES, max_size=2))]
        ending = draw(st.sampled_from([*Ending, None]))
        omitted = draw(st.dictionaries(NAMES, NAMES, max_size=2))
        whole = configured(name, trials, ending, omitted=omitted, run_id=str(number))
        columns.append(in_runs(whole, draw(st.integers(1, 3))))
    return compare(columns)


def unsafe_characters(page: str) -> set[str]:
    return {c for c in page if unicodedata.category(c) in ("Cc", "Cf", "Cs")}


def headings(table: str) -> list[str]:
    """Return what is above each column but the first, read down its lines."""
    lines = table.split("\n")
    rule = next(number for number, line in enumerate(lines) if line.startswith("---"))
    spans = [match.span() for match in re.finditer("-+", lines[rule])][1:]
    return ["".join(line[slice(*span)].strip() for line in lines[: rule - 1]) for span in spans]


class TestAnyTable:
    @every_format
    def test_every_format_escapes_names_and_says_what_was_found(self, format_: str) -> None:
        table = comparison_table(hostile_names())
        page = FORMATS[format_]([table, Sentences(["group-by took too long"])])
        assert unsafe_characters(page) <= {"\n"}
        assert "group-by took too long" in page

    @given(comparisons())
    def test_text_fits_the_terminal_and_has_no_control_characters(
        self, comparison: Comparison
    ) -> None:
        table = printed_table(comparison)
        assert max(map(display_width, table.split("\n"))) <= WIDTH
        assert unsafe_characters(table) <= {"\n"}

    @given(
        st.lists(st.text("abc-", min_size=1, max_size=20), min_size=3, max_size=3, unique=True),
        st.dictionaries(
            st.text("abc-", min_size=1, max_size=20),
            st.lists(SIMILAR_TIMES_S, min_size=3, max_size=3),
        ),
    )
    def test_text_of_three_configurations_is_one_table_with_their_whole_names(
        self, names: list[str], times_s: dict[str, list[list[float]]]
    ) -> None:
        columns = [
            in_runs(
                column(
                    name,
                    {"group-by": scaled(50)} | {w: each[i] for w, each in times_s.items()},
                    run_id=name,
                )
            )
            for i, name in enumerate(names)
        ]
        table = printed_table(compare(columns))
        assert table.count("workload ") == 1
        assert headings(table) == names

    @given(comparisons())
    def test_markdown_has_as_many_cells_in_each_line_and_no_control_characters(
        self, comparison: Comparison
    ) -> None:
        page = markdown_table(comparison)
        assert unsafe_characters(page) <= {"\n"}
        tables = [part for part in page.split("\n\n") if part.startswith("|")]
        assert tables
        lines = "\n".join(tables).split("\n")
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
        assert cells == {len(comparison.columns) + 2}

    @given(comparisons())
    def test_json_has_full_precision_and_exact_names(self, comparison: Comparison) -> None:
        content = json.loads(comparison_json.render(comparison))
        assert content["schema_version"] == 3
        assert [c["name"] for c in content["configurations"]] == [
            c.name for c in comparison.columns
        ]
        for shown, row in zip(content["workloads"], comparison.rows, strict=True):
            assert shown["workload"] == row.workload
            times_s = [cell["times_s_by_run"] for cell in shown["cells"]]
            assert times_s == [list(map(list, cell.sample.runs_s)) for cell in row.cells]

    @given(st.integers(1, 5), st.sampled_from(["failed", "omitted", "missing"]))
    def test_a_workload_without_a_time_shows_its_outcome_and_no_number(
        self, trials: int, outcome: str
    ) -> None:
        known = column("a", {"common": [1.0], "x": [1.0]})
        other = configured(
            "b",
            [ok("common", 1.0), *([failed("x")] * trials if outcome == "failed" else [])],
            omitted={"x": "no reason"} if outcome == "omitted" else {},
        )
        comparison = compare([known, other])
        in_text = next(
            line for line in printed_table(comparison).split("\n") if line.startswith("x ")
        )
        assert re.fullmatch(rf"x +1\.00 s +{outcome}[¹²]?", in_text)
        assert re.search(rf"\| x .*\| +{outcome}[¹²]? \|", markdown_table(comparison))
        in_json = json.loads(comparison_json.render(comparison))["workloads"][1]["cells"][1]
        assert [in_json[key] for key in ("time_s", "time_interval_s", "change")] == [None] * 3

    def test_many_columns_become_several_tables_with_the_baseline_in_each(self) -> None:
        comparison = compare(
            [column(f"c{i}", {"w": [100.0, 112.0]}, run_id=str(i)) for i in range(6)]
        )
        table = printed_table(comparison)
        assert table.count("c0") == table.count("workload ") > 1
        assert all(table.count(f"c{i}") == 1 for i in range(1, 6))

    def test_one_configuration_alone_has_no_change(self) -> None:
        table = printed_table(overview(column("1g", {"w": [1.0, 2.0]})))
        assert "change" not in table

    def test_probes_have_values_where_workloads_have_trials(self) -> None:
        measured = {
            name: [probed(measurements=[MESH_GOODPUT.of(("a", "b"), value)])]
            for name, value in (("1g", 1e8), ("2.5g", 2e8))
        }
        [compared] = compare_probes(measured)
        table = text.render([probe_table(compared)])
        assert "+100.0%?" in table
        assert "1 value of one run." in table
        assert "trial" not in table

    def test_equal_notes_share_a_footnote(self) -> None:
        notes = Footnotes()
        assert [notes.mark(["a"]), notes.mark(["b", "a"]), notes.mark([])] == ["¹", "¹,²", ""]
        assert text.render([Paragraph("", notes.texts)]) == "¹ a\n² b\n"

    def test_a_number_and_its_unit_stay_on_one_line(self) -> None:
        lines = fill(f"{'x' * 96} 95 % of it").split("\n")
        assert lines == ["x" * 96, "95 % of it"]

    def test_a_wide_character_takes_two_columns_of_a_wrapped_line(self) -> None:
        lines = fill("⺀" * 60).split("\n")
        assert lines == ["⺀" * 50, "⺀" * 10]
