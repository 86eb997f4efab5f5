"""Slow members of random pairs: the range of sound values, suspects, and the chance to miss a slow one."""

import random
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.pairwise import (
    AGAIN,
    RECEIVES,
    SENDS,
    SoundRange,
    chance_of_missing,
    settled,
    slow_members,
    smallest_found_drop,
    sound_range,
    suspects,
    unexplained,
)

RING = {("a", "b"): 9.0, ("b", "c"): 10.0, ("c", "d"): 10.0, ("d", "a"): 11.0}


class TestSoundRange:
    def test_is_around_the_median(self) -> None:
        found = sound_range(RING, 0.1)
        assert found is not None
        assert found.typical == pytest.approx(10, rel=0.05)

    def test_is_as_wide_as_the_tolerance_if_values_hardly_differ(self) -> None:
        assert sound_range(dict.fromkeys(RING, 10.0), 0.1) == SoundRange(10.0, 0.0, 9.0)

    @pytest.mark.parametrize("values", [{}, dict.fromkeys(RING, 0.0)])
    def test_is_unknown_where_nothing_works(self, values: dict[tuple[str, str], float]) -> None:
        assert sound_range(values, 0.1) is None

    @given(st.lists(st.floats(0.001, 1e12), min_size=1, max_size=30))
    def test_has_a_limit_between_half_and_nine_tenths_of_typical(self, values: list[float]) -> None:
        found = sound_range({(f"a{i}", f"b{i}"): value for i, value in enumerate(values)}, 0.1)
        assert found is not None
        assert 0.49 * found.typical <= found.limit <= 0.91 * found.typical


class TestSlowMembers:
    @staticmethod
    def values(slow: Collection[str]) -> dict[tuple[str, str], float]:
        """Return the values of all pairs of six members, of which these send slowly."""
        return {(a, b): 5.0 if a in slow else 10.0 for a in "abcdef" for b in "abcdef" if a != b}

    def test_are_slow_in_the_role_in_which_they_were_slow(self) -> None:
        values = self.values("a")
        assert suspects(values, 9.0) == slow_members(values, 9.0) == {("a", SENDS)}

    def test_do_not_make_their_partners_slow(self) -> None:
        values = {pair: value for pair, value in self.values("ab").items() if pair != ("c", "d")}
        del values["e", "d"]  # so that d receives from a, b and f alone
        assert suspects(values, 9.0) == {("a", SENDS), ("b", SENDS), ("d", RECEIVES)}
        assert slow_members(values, 9.0) == {("a", SENDS), ("b", SENDS)}

    def test_with_suspects_alone_stay_suspects(self) -> None:
        values = {("a", "b"): 5.0, ("a", "c"): 5.0, ("d", "b"): 5.0, ("d", "c"): 5.0}
        assert slow_members(values, 9.0) == suspects(values, 9.0) != set()

    def test_leave_the_pairs_unexplained_in_which_they_are_not(self) -> None:
        values = self.values("a") | {("b", "c"): 5.0}
        assert unexplained(values, 9.0, {("a", SENDS)}) == [("b", "c")]
        assert unexplained(values, 9.0, {("c", RECEIVES), ("a", SENDS)}) == []

    def test_a_value_that_made_a_suspect_does_not_count_once_there_are_others(self) -> None:
        assert settled([1.0]) == 1.0
        assert settled([1.0, 9.0, 10.0, 11.0]) == 10.0


class TestConfidence:
    @given(st.floats(0, 1), st.floats(0.001, 0.2), st.integers(4, 20))
    def test_is_a_probability_that_falls_as_the_drop_grows(
        self, drop: float, deviation: float, rounds: int
    ) -> None:
        sound = SoundRange(100.0, deviation, 90.0)
        less, more = (chance_of_missing(d, rounds, sound) for d in (drop, min(1.0, drop + 0.05)))
        assert 0 <= more <= less + 1e-12 <= 1 + 1e-9

    def test_without_noise_is_certain_beyond_the_limit(self) -> None:
        sound = SoundRange(100.0, 0.0, 90.0)
        assert chance_of_missing(0.11, 4, sound) == 0
        assert smallest_found_drop(4, sound, 0.01) == pytest.approx(0.11)

    def test_is_what_a_simulation_finds(self) -> None:
        rng = random.Random(1)  # noqa: S311  noise, not a secret
        sound, rounds, drop, trials = SoundRange(100.0, 0.05, 80.0), 5, 0.22, 4000

        def is_mostly_slow(count: int) -> bool:
            slow = sum(
                100 * (1 - drop) * rng.gauss(1, 0.05 / (1 - drop)) < 80 for _ in range(count)
            )
            return slow > count // 2

        missed = sum(not (is_mostly_slow(rounds) and is_mostly_slow(AGAIN)) for _ in range(trials))
        expected = chance_of_missing(drop, rounds, sound)
        assert missed / trials == pytest.approx(expected, abs=0.03)
