"""Published sweeps of packet sizes are read as probe runs, those of two switches and a cable among them."""

from pathlib import Path

import pytest

from harness.analysis.network.packet_costs import packet_costs
from harness.cli import main
from harness.model.errors import BadInput
from harness.model.network_metrics import PACKET_CPU
from harness.records.lookup import find_probes
from harness.records.published_packets import read_published_packets

NEMO = Path(__file__).parents[3] / "results" / "nemo-switches"
HEADER = "sender,receiver,mtu_bytes,direction,goodput_bit_s,sender_cpu_percent,receiver_cpu_percent"
LINE = "a,b,1500,one way,9e8,10,20"
BYTES_PER_KB = 1024
"""netperf's -f K."""


def write(directory: Path, *lines: str) -> Path:
    path = directory / "sweep.csv"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("name", "published"),
    [
        (
            "crossover",
            {
                (1500, False): (114905.40, 18.50, 40.83),
                (9000, False): (120111.19, 7.24, 9.00),
                (9000, True): (94587.40 + 94568.85, 13.08, 14.37),
            },
        ),
        (
            "smc-8505t",
            {
                (1500, False): (114902.26, 18.37, 39.56),
                (1500, True): (111594.47 + 110839.93, 69.32, 70.52),
                (8982, False): (96132.05, 5.97, 6.42),
                (8982, True): (49415.38 + 47241.83, 5.79, 6.72),
            },
        ),
        (
            "smc-8508t",
            {
                (1500, False): (114899.13, 18.45, 40.26),
                (8982, False): (96013.90, 6.11, 6.39),
            },
        ),
    ],
)
def test_the_committed_tables_are_the_source_s(
    name: str, published: dict[tuple[int, bool], tuple[float, float, float]]
) -> None:
    [kept] = find_probes(name, NEMO)
    found = {
        (cost.case.packet_bytes, cost.case.both_ways): (
            (cost.goodput_bit_s or 0) / 8 / BYTES_PER_KB,
            cost.costs[PACKET_CPU.sender],
            cost.costs[PACKET_CPU.receiver],
        )
        for cost in packet_costs(kept.measurements)
    }
    assert found == {key: pytest.approx(values, abs=0.001) for key, values in published.items()}
    _, again = read_published_packets(NEMO / f"{name}.csv", name, kept.run.facts)
    assert list(again) == kept.measurements


def test_an_imported_sweep_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, f"{HEADER},sender_instructions_per_byte", f"{LINE},3.5")
    results = ["--results", str(tmp_path)]
    arguments = ["--configuration", "old", "--fact", "driver=tg3"]
    assert main(["import", str(file), *arguments, *results]) == 0
    [kept] = find_probes("old", tmp_path)
    assert capsys.readouterr().out == f"{kept.source}\n"
    assert kept.run.hosts == ("a", "b")
    assert kept.run.facts == {"driver": "tg3"}
    assert main(["packets", "old", *results]) == 0
    printed = capsys.readouterr().out
    assert "an MTU of 1500 bytes             900.0         10.0%           20.0%" in printed
    assert "3.50" in printed


def test_an_empty_field_is_a_value_that_was_not_published(tmp_path: Path) -> None:
    _, found = read_published_packets(write(tmp_path, HEADER, "a,b,1500,one way,9e8,,20"), "x", {})
    assert [each.metric for each in found] == ["goodput_bit_s", "receiver_cpu_percent"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((HEADER + ",speed", LINE), r"sweep\.csv:1: the header is not sender,receiver,mtu_bytes"),
        ((HEADER + ",goodput_bit_s", LINE), r":1: the header is not"),
        ((HEADER,), r"sweep\.csv has no line of a transfer"),
        ((HEADER, "a,b,1500"), r":2: sender,receiver.* are expected, not \['a', 'b', '1500'\]"),
        ((HEADER, LINE, LINE.replace("1500", "9")), r":3: '9' is not an MTU; 68 to 65535 bytes"),
        ((HEADER, LINE.replace("1500", "1" * 5000)), r":2: '1+' is not an MTU"),
        ((HEADER, LINE.replace("one way", "up")), r":2: 'up' is not a direction; one way or both"),
        ((HEADER, LINE.replace("9e8", "fast")), r":2: 'fast' is not a goodput_bit_s"),
        ((HEADER, LINE.replace("9e8", "")), r":2: a transfer needs a goodput_bit_s"),
        ((HEADER, LINE.replace("9e8", "0")), r":2: '0' is not a goodput_bit_s"),
        (
            (HEADER, LINE.replace(",20", ",101")),
            r":2: '101' is not a receiver_cpu_percent; 0 to 100 %",
        ),
        ((HEADER, LINE.replace(",20", ",nan")), r":2: 'nan' is not a receiver_cpu_percent"),
        ((HEADER, LINE.replace("a,b", "a,a")), r":2: the sender 'a' is also the receiver"),
        ((HEADER, LINE.replace("a,b", ",b")), r":2: '' is not the name of a host"),
        ((HEADER, LINE.replace("a,b", "a -> c,b")), r":2: 'a -> c' is not the name of a host"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(
    tmp_path: Path, lines: tuple[str, ...], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        read_published_packets(write(tmp_path, *lines), "x", {})


def test_a_bad_file_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, HEADER, LINE.replace("9e8", "fast"))
    arguments = ["--configuration", "old", "--results", str(tmp_path / "results")]
    assert main(["import", str(file), *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"{file}:2: 'fast' is not a goodput_bit_s" in line
    assert not (tmp_path / "results").exists()
