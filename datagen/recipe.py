"""The deterministic definition of the rows.

The columns have the names, types and meaning that they have in the pyspark-benchmark of 2020
(github.com/DIYBigData/pyspark-benchmark), which drew new random rows in every generation. Here, row
number `n` of seed `s` is the same on every machine and in every partitioning:

    value        xxhash64(s, n) and xxhash64(s, n, 1), each as 16 hexadecimal characters
    prefix2/4/8  the first 2, 4, 8 characters of value
    float_val    draw / 10^9, with draw = xxhash64(s, n, 1) mod 10^15: from 0 up to 1,000,000
    integer_val  the integer part of float_val

`draw` and 10^9 are exact doubles, so their quotient is the double nearest to the decimal number in
the CSV: both formats read back as the same rows. A row takes about 61 bytes of Parquet, or 75 of
CSV.

This module has two definitions, one in Spark expressions and one in plain Python, so that each
checks the other. It does not import Spark.
"""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.model.limits import MAX_ROWS

NAME = "uuid-rows"
VERSION = 1
"""Must be raised when the same (seed, row number) gives another row."""

COLUMNS = ("value", "prefix2", "prefix4", "prefix8", "float_val", "integer_val")
COLUMNS_WITHOUT_VALUE = COLUMNS[1:]
SCHEMA = (
    "value string, prefix2 string, prefix4 string, prefix8 string, "
    "float_val double, integer_val long"
)
CSV_BYTES_PER_ROW = 75

MAX_SEED = 2**63 - 1

DRAWS = 10**15
SCALE = 10**9


@dataclass(frozen=True)
class Recipe:
    """The first `rows` rows of a seed. Raises ValueError if either is out of range."""

    rows: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.rows <= MAX_ROWS:
            raise ValueError(f"rows must be from 0 to {MAX_ROWS:,}, not {self.rows:,}")
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError(f"the seed must be from 0 to {MAX_SEED}, not {self.seed}")

    def as_facts(self) -> dict[str, Any]:
        """Return the recipe as a manifest holds it."""
        return {"name": NAME, "version": VERSION, "seed": self.seed, "rows": self.rows}


# The definition in Spark: expressions over a column `id`, the row number.


def base_stages(recipe: Recipe) -> list[list[str]]:
    """Return lists of expressions that lead from `id` to `value` and `draw`.

    Each list is selected from the result of the list before it. Spark's hex() writes capitals, and
    converting them to lower case would cost more than all other steps. Therefore eight hexadecimal
    digits are converted together in one 64-bit word: the first steps spread the digits over the bytes
    of the word, the last one adds to each byte the offset that makes it a character. The casts from
    long to binary need `spark.sql.ansi.enabled=false`.
    """
    words = ("w1", "w2", "w3", "w4")

    def each(expression: str) -> list[str]:
        return ["draw"] + [f"{expression.format(w=word)} as {word}" for word in words]

    digits = ", ".join(f"cast({word} as binary)" for word in words)
    return [
        [f"xxhash64({recipe.seed}L, id) as high", f"xxhash64({recipe.seed}L, id, 1L) as low"],
        [
            f"pmod(low, {DRAWS}L) as draw",
            "shiftrightunsigned(high, 32) as w1",
            f"high & {2**32 - 1}L as w2",
            "shiftrightunsigned(low, 32) as w3",
            f"low & {2**32 - 1}L as w4",
        ],
        each(f"(shiftleft({{w}}, 16) | {{w}}) & {0x0000FFFF0000FFFF}L"),
        each(f"(shiftleft({{w}}, 8) | {{w}}) & {0x00FF00FF00FF00FF}L"),
        each(f"(shiftleft({{w}}, 4) | {{w}}) & {0x0F0F0F0F0F0F0F0F}L"),
        # Adding 6 carries into the upper half of the bytes that hold 10 or more.
        each(
            f"{{w}} + {0x3030303030303030}L + {ord('a') - ord('0') - 10}L * "
            f"(shiftright({{w}} + {0x0606060606060606}L, 4) & {0x0101010101010101}L)"
        ),
        ["draw", f"cast(concat({digits}) as string) as value"],
    ]


def column_expressions() -> list[str]:
    """Return the expressions that turn `value` and `draw` into the six columns and `fraction`.

    `fraction` is the fractional part of float_val in units of 10^-9, an integer.
    """
    return [
        "value",
        "left(value, 2) as prefix2",
        "left(value, 4) as prefix4",
        "left(value, 8) as prefix8",
        f"draw / {SCALE}D as float_val",
        f"draw div {SCALE}L as integer_val",
        f"draw % {SCALE}L as fraction",
    ]


CSV_HEADER = ",".join(COLUMNS)
_INTEGER = "cast(integer_val as string)"
# Adding 10^9 keeps the leading zeros; substring() drops the 1 in front.
_FRACTION = f"substring(cast({SCALE}L + fraction as string), 2)"
CSV_LINE = (
    "concat_ws(',', value, prefix2, prefix4, prefix8, "
    f"concat({_INTEGER}, '.', {_FRACTION}), {_INTEGER})"
)
"""A row as a line of CSV. No character in it ever needs quoting."""


# The definition in plain Python.


class GeneratedRow(NamedTuple):
    """A row, as Spark reads it."""

    value: str
    prefix2: str
    prefix4: str
    prefix8: str
    float_val: float
    integer_val: int


def row(seed: int, number: int) -> GeneratedRow:
    """Return row `number`, counted from 0, of `seed`."""
    high = xxhash64(seed, number) & _WORD
    low = xxhash64(seed, number, 1) & _WORD
    value = f"{high:016x}{low:016x}"
    draw_e9 = draw(seed, number)
    return GeneratedRow(value, value[:2], value[:4], value[:8], draw_e9 / SCALE, draw_e9 // SCALE)


def draw(seed: int, number: int) -> int:
    """Return a pseudo-random integer from 0 to 10^15 - 1: float_val in units of 10^-9."""
    return xxhash64(seed, number, 1) % DRAWS


def rows(recipe: Recipe) -> Iterator[GeneratedRow]:
    """Yield all rows in order."""
    return (row(recipe.seed, number) for number in range(recipe.rows))


_WORD = 2**64 - 1
# The constants of XXH64 (Yann Collet, github.com/Cyan4973/xxHash).
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5
_SPARK_SEED = 42


def xxhash64(*longs: int) -> int:
    """Return Spark SQL's `xxhash64` of 64-bit integers, as a signed 64-bit integer.

    Spark hashes each argument with XXH64. The seed is the hash of the arguments before it.
    """
    digest = _SPARK_SEED
    for long in longs:
        digest = _xxh64(long & _WORD, digest)
    if digest >> 63:
        return digest - 2**64
    return digest


def _xxh64(word: int, seed: int) -> int:
    digest = (seed + _P5 + 8) & _WORD
    digest ^= (_rotate(word * _P2 & _WORD, 31) * _P1) & _WORD
    digest = (_rotate(digest, 27) * _P1 + _P4) & _WORD
    digest = ((digest ^ (digest >> 33)) * _P2) & _WORD
    digest = ((digest ^ (digest >> 29)) * _P3) & _WORD
    return digest ^ (digest >> 32)


def _rotate(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & _WORD


# Sums over all rows.


@dataclass(frozen=True)
class Totals:
    """Sums over the rows of a dataset, with which the answers of workloads are compared.

    `float_sum_e9` is the sum of float_val in units of 10^-9, an exact integer. The numbers of distinct
    prefixes are None unless they were counted.
    """

    rows: int
    integer_sum: int
    float_sum_e9: int
    rows_per_prefix2: Mapping[str, int]
    distinct_prefix4: int | None = None
    distinct_prefix8: int | None = None

    @property
    def float_sum(self) -> float:
        """The double nearest to the sum of float_val."""
        return self.float_sum_e9 / SCALE


def totals(recipe: Recipe) -> Totals:
    """Compute the totals in plain Python, at about 300,000 rows per second."""
    per_prefix: Counter[str] = Counter()
    prefixes4 = set()
    prefixes8 = set()
    integer_sum = float_sum_e9 = 0
    for number in range(recipe.rows):
        current = row(recipe.seed, number)
        per_prefix[current.prefix2] += 1
        prefixes4.add(current.prefix4)
        prefixes8.add(current.prefix8)
        integer_sum += current.integer_val
        float_sum_e9 += draw(recipe.seed, number)
    return Totals(
        recipe.rows, integer_sum, float_sum_e9, dict(per_prefix), len(prefixes4), len(prefixes8)
    )
