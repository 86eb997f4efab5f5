"""The statements of a text in Spark's SQL: where each begins and ends, and what its words are.

Whether a statement may run, Spark's own parser decides. This module only has to agree with it on what is a
comment, a string, or a quoted name.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


class Part(Enum):
    """What a piece of a text is."""

    CODE = "code"
    QUOTED = "string or quoted name"
    COMMENT = "comment"
    END = "end of a statement"


@dataclass(frozen=True)
class Piece:
    """A piece of a text."""

    part: Part
    text: str


_PIECE = re.compile(
    r"""
    (?P<line> --(?:\\\n|[^\r\n])*)
    | (?P<block> /\*(?!\+))                     # a hint, /*+ ... */, is no comment
    | (?P<quoted>
        [rR](?:'[^']*'|"[^"]*")
        | '(?:[^'\\]|\\.)*'
        | "(?:[^"\\]|\\.)*"
        | `(?:[^`]|``)*`
      )
    | (?P<escaped> \\;)
    | (?P<end> ;)
    | (?P<code> [A-Za-z0-9_]+ | [^A-Za-z0-9_] )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def pieces(text: str) -> Iterator[Piece]:
    r"""Yield all of a text in pieces. Comments in `/* */` nest, as they do in Spark.

    A semicolon behind a backslash ends no statement, as in the shell spark-sql.
    """
    position = 0
    while position < len(text):
        found = _PIECE.match(text, position)
        assert found is not None  # noqa: S101  any character is code
        position = found.end()
        kind = found.lastgroup
        if kind == "line":
            yield Piece(Part.COMMENT, found.group())
        elif kind == "block":
            position = _end_of_comment(text, position)
            yield Piece(Part.COMMENT, text[found.start() : position])
        elif kind == "quoted":
            yield Piece(Part.QUOTED, found.group())
        elif kind == "escaped":
            yield Piece(Part.CODE, ";")
        elif kind == "end":
            yield Piece(Part.END, ";")
        else:
            yield Piece(Part.CODE, found.group())


def _end_of_comment(text: str, position: int) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge.group() == "/*" else -1
        if not depth:
            return edge.end()
    return len(text)


def statements_in(text: str) -> list[str]:
    """Return the statements of a text without blanks around them. Comments alone are none."""
    found: list[str] = []
    begun: list[str] = []
    has_code = False
    for piece in (*pieces(text), Piece(Part.END, "")):
        if piece.part is not Part.END:
            begun.append(piece.text)
            has_code = has_code or (piece.part is not Part.COMMENT and bool(piece.text.strip()))
            continue
        if has_code:
            found.append("".join(begun).strip())
        begun = []
        has_code = False
    return found


def words_of(text: str) -> str:
    """Return a text in one line of capitals, without comments, and with `''` for what is quoted."""
    found: list[str] = []
    for piece in pieces(text):
        if piece.part is Part.COMMENT:
            found.append(" ")
        elif piece.part is Part.QUOTED:
            found.append(" '' ")
        else:
            found.append(piece.text)
    return " ".join("".join(found).upper().split())


_BEFORE_A_QUERY = re.compile(
    r"SET\b|RESET\b|USE\b|(CREATE|DROP)\b( OR REPLACE\b)?( GLOBAL\b)?( TEMP(ORARY)?\b)? VIEW\b"
)


def is_before_a_query(statement: str) -> bool:
    """Whether a statement may stand before queries and is none: SET, USE, or one about a view."""
    return _BEFORE_A_QUERY.match(words_of(statement)) is not None


_KEY_OF_SET = re.compile(r"SET\s+(?:hivevar:)?([^\s=;]+)\s*=", re.IGNORECASE)


def key_of_set(statement: str) -> str | None:
    """Return the key that a statement SET gives a value; None if it gives none."""
    code = "".join(piece.text for piece in pieces(statement) if piece.part is not Part.COMMENT)
    found = _KEY_OF_SET.match(code.strip())
    return found.group(1).strip("`") if found else None


_PLACEHOLDER = re.compile(r"\$\{([^{}\s]+)\}")
_SPARK_PREFIXES = ("hivevar:", "hiveconf:", "sparkconf:", "spark:")


def placeholder_name(inside: str) -> str:
    """Return the name of the placeholder that has this in its braces: `day` of `${hivevar:day}`."""
    for prefix in _SPARK_PREFIXES:
        if inside.startswith(prefix):
            return inside[len(prefix) :]
    return inside


def with_values(statement: str, value_of: Callable[[str], str | None]) -> str:
    """Return a statement with a value in the place of each `${name}`, but not in comments.

    `value_of` returns the value of what is in the braces, None to leave the placeholder to Spark.
    """

    def replaced(found: re.Match[str]) -> str:
        value = value_of(found.group(1))
        return found.group() if value is None else value

    # A placeholder may stand across pieces of code: `${a}` is four of them.
    parts: list[str] = []
    code: list[str] = []
    for piece in (*pieces(statement), Piece(Part.COMMENT, "")):
        if piece.part is Part.COMMENT:
            parts.append(_PLACEHOLDER.sub(replaced, "".join(code)))
            parts.append(piece.text)
            code = []
        else:
            code.append(piece.text)
    return "".join(parts)


_CHANCE: Mapping[str, str] = {
    "any_value()": r"\bANY_VALUE ?\(",
    "collect_list()": r"\b(COLLECT_LIST|ARRAY_AGG|LISTAGG|STRING_AGG) ?\(",
    "collect_set()": r"\bCOLLECT_SET ?\(",
    "first()": r"\b(FIRST|FIRST_VALUE) ?\(",
    "last()": r"\b(LAST|LAST_VALUE|NTH_VALUE) ?\(",
    "lag() or lead()": r"\b(LAG|LEAD) ?\(",
    "max_by() or min_by()": r"\b(MAX_BY|MIN_BY|MODE) ?\(",
    "monotonically_increasing_id()": r"\b(MONOTONICALLY_INCREASING_ID|SPARK_PARTITION_ID) ?\(",
    "ntile()": r"\bNTILE ?\(",
    "percentile_approx()": r"\b(PERCENTILE_APPROX|APPROX_PERCENTILE) ?\(",
    "rand()": r"\b(RAND|RANDOM|RANDN|RANDSTR|UNIFORM|SHUFFLE) ?\(",
    "row_number()": r"\bROW_NUMBER ?\(",
    "rows of a window that tie": r"\bROWS (BETWEEN|UNBOUNDED|CURRENT|\d)",
    "TABLESAMPLE": r"\bTABLESAMPLE ?\(",
    "the name of an input file": r"\b(INPUT_FILE_NAME|INPUT_FILE_BLOCK_START|_METADATA)\b",
    "the time of the query": (
        r"\b(CURRENT_TIMESTAMP|CURRENT_DATE|CURRENT_TIME|LOCALTIMESTAMP)\b|\b(NOW|CURDATE|UNIX_TIMESTAMP) ?\("
    ),
    "uuid()": r"\bUUID ?\(",
}
_LIMIT = re.compile(r"\b(LIMIT (?!ALL\b)|OFFSET )")


def left_to_chance(text: str) -> tuple[str, ...]:
    """Return what in a text may give another answer on the same data, but not a LIMIT at its end."""
    words = words_of(text)
    return tuple(name for name, pattern in _CHANCE.items() if re.search(pattern, words))


def limits_in(text: str) -> int:
    """Return how often a text has LIMIT or OFFSET."""
    return len(_LIMIT.findall(words_of(text)))
