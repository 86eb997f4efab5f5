"""JSON is found in what a program printed, whatever stands beside it."""

import json

import pytest

from harness.base.errors import ToolError
from harness.node.iproute2 import json_rows
from harness.node.printed_json import printed_json
from harness.probes.tools import fio, iperf3
from tests.unit.probe_builders import output

REPORT = {"end": {"sum": 1}, "intervals": [{"streams": [{"socket": 5}]}]}
PRETTY = json.dumps(REPORT, indent="\t") + "\n"
BESIDE = {
    "alone": "{}",
    "after a warning": "warning: cannot lock memory\n{}",
    "after a warning with braces": "warning: {option} is {unknown}\n{}",
    "on the line of a warning": "warning: {}",
    "before a remark": "{}iperf Done.\n",
    "before a remark with braces": "{}see {this}\n",
    "twice": "{}{}",
    "twice with a remark between": "{}-- again --\n{}",
}


def beside(form: str, document: str) -> str:
    """Return a document as `form` has it; only `{}` stands for it."""
    return form.replace("{}", document)


@pytest.mark.parametrize("form", BESIDE.values(), ids=BESIDE.keys())
class TestBesideSomethingElse:
    def test_a_document_is_found(self, form: str) -> None:
        assert next(iter(printed_json(beside(form, PRETTY), "{"))) == REPORT

    @pytest.mark.parametrize("version", ["3.2", "3.12", "3.16"])
    def test_a_report_of_iperf3_is_read(self, form: str, version: str) -> None:
        text = output(f"iperf3-{version}.json")
        assert iperf3.read_report(beside(form, text)) == iperf3.read_report(text)

    def test_a_report_of_fio_is_read(self, form: str) -> None:
        text = output("fio-3.33.json")
        assert fio.read_report(beside(form, text)) == fio.read_report(text)

    def test_rows_of_ip_are_read(self, form: str) -> None:
        form = form.replace("{option}", "[option]").replace("{this}", "[this]")
        assert json_rows(beside(form, '[{"ifname":"eth0"}]\n'), "ip") == [{"ifname": "eth0"}]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("no JSON", []),
        (PRETTY[:-4], []),
        ("{" * 100_000, []),
        ("\n{" * 100_000, []),
        (f"[{PRETTY}", [REPORT]),
    ],
)
def test_what_is_cut_off_is_no_document_and_neither_are_its_parts(
    text: str, documents: list[object]
) -> None:
    assert list(printed_json(text, "{")) == documents


def test_an_error_beside_a_report_counts() -> None:
    text = output("iperf3-3.12.json") + '{"error": "control socket has closed unexpectedly"}\n'
    with pytest.raises(ToolError, match="iperf3: control socket has closed unexpectedly"):
        iperf3.read_report(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1: lo: <LOOPBACK>", "its output is not JSON, which needs iproute2 5.0"),
        ('[{"ifname":"eth0","qlen":,}]', "its output is broken JSON, a fault of this version"),
        ('[{"ifname":"eth0"}', "its output is broken JSON, a fault of this version"),
        ("[1, 2]", "its output is not a list of objects"),
    ],
)
def test_rows_that_cannot_be_read_have_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ToolError, match=f"ip link: {reason}"):
        json_rows(text, "ip link")
