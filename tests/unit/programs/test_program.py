"""Programs are discovered, and their options are read."""

from inspect import signature

import pytest

from harness.programs.program import byte_count, programs, whole_number


class TestDiscovery:
    def test_every_program_of_the_room_is_found(self) -> None:
        assert list(programs()) == ["hpcc", "phold"]

    @pytest.mark.parametrize("name", sorted(programs()))
    def test_each_option_is_a_field_with_a_default_that_can_be_read(self, name: str) -> None:
        program = programs()[name]
        defaults = {option.name: option.parse(option.default) for option in program.options}
        assert set(defaults) <= set(signature(program).parameters)
        assert set(program.controls) | set(program.per_process) <= set(program.workloads)


class TestSizes:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [("64mb", 64 * 10**6), ("1.5gb", 15 * 10**8), ("31.5MB", 31_500_000), ("70b", 70)],
    )
    def test_prefixes_are_decimal(self, text: str, expected: int) -> None:
        assert byte_count(text) == expected

    @pytest.mark.parametrize(
        "text", ["", "64", "mb", "-1mb", "0mb", "1e9gb", "64mib", "2 tb", "9" * 30 + "kb"]
    )
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"is not a size; write 64mb or 1\.5gb"):
            byte_count(text)

    @pytest.mark.parametrize("text", ["", "0", "11", "1.5", "-3", "٣", "9" * 30])
    def test_a_whole_number_has_bounds(self, text: str) -> None:
        with pytest.raises(ValueError, match="is not a whole number from 1 to 10"):
            whole_number(1, 10)(text)
