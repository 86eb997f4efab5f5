"""How Spark reads CSV as people have it: what they say of it, and what its files show."""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import join_names

NAMES = ("header", "sep", "quote", "escape", "multiLine", "encoding", "nullValue")
"""The options of Spark's reader that can be given."""

_BOOLEAN = frozenset({"header", "multiLine"})
_WORDS = {"tab": "\t", "comma": ",", "colon": ":"}
"""Separators that cannot be typed, or that separate options."""
_WIDE = ("UTF-16", "UTF-32")
_OTHER_SEPARATORS = {"|": "|", ";": ";", "\t": "tab"}
_VALUE = re.compile(
    r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|true|false"
)
"""A field that looks like a value, and not like the name of a column."""


def parse_csv_options(texts: list[str]) -> dict[str, str]:
    """Return the options in `header=false`, `sep=|`.

    Raise ValueError if one is not known, or has no value.
    """
    known = {name.lower(): name for name in NAMES}
    options: dict[str, str] = {}
    for text in texts:
        given, _, value = text.partition("=")
        name = known.get(given.strip().lower())
        if name is None or not value:
            raise ValueError(
                f"{text!r} is no option of CSV; write NAME=VALUE with one of {', '.join(NAMES)}"
            )
        if name in _BOOLEAN and value not in {"true", "false"}:
            raise ValueError(f"{text!r}: write {name}=true or {name}=false")
        if name == "sep":
            value = _WORDS.get(value, value)
        options[name] = value
    return options


def csv_options(
    spark: SparkSession, context: str, uri: str, given: Mapping[str, str]
) -> dict[str, str]:
    """Return the options that are given, and those that the files need. All lines are read once for it.

    Raise BadInput if files have different first rows, or quotes within values are written in two ways.
    """
    options = dict(given)
    if "encoding" in given:  # lines cannot be read without it
        if given["encoding"].upper().startswith(_WIDE):
            options.setdefault("multiLine", "true")  # Spark looks for single bytes as ends of lines
        return options
    lines = _lines_by_file(spark, uri, given.get("sep", ","), given.get("quote", '"'))
    if given.get("header") != "false":
        others = [line["file"] for line in lines if not line["named"]]
        if others:
            raise BadInput(
                f"{context}: the first row of other files is not in {others[0]}; if no file has names of "
                "columns in its first row, write csv,header=false:URI"
            )
    if "multiLine" not in given and any(line["odd"] for line in lines):
        say(
            f"{context}: a value seems to have a line break; with multiLine=true, a task reads a whole file"
        )
        options["multiLine"] = "true"
    if "escape" not in given and any(line["doubled"] for line in lines):
        if any(line["escaped"] for line in lines):
            raise BadInput(
                f'{context} has quotes within values as "" and as \\"; say which one: csv,escape=":URI or '
                "csv,escape=\\:URI"
            )
        options["escape"] = given.get("quote", '"')
    return options


def _lines_by_file(spark: SparkSession, uri: str, separator: str, quote: str) -> list[Row]:
    """Return what is in any line of each file.

    - `named`: the first row of one of the files, without regard to quotes, blanks and case;
    - `odd`: an odd number of quotes; `doubled`, `escaped`: quotes within values.
    """
    line = F.col("value")
    lines = spark.read.text(uri)
    first = lines.where(F.trim(line) != "").first()
    if first is None:
        return []
    ignored = f"{quote} \t"
    unescaped = F.regexp_replace(line, r"\\.", "")
    names = F.lower(F.translate(line, ignored, ""))
    first_names = F.lower(F.translate(F.lit(first["value"]), ignored, ""))
    quotes = F.length(F.regexp_replace(unescaped, f"[^{re.escape(quote)}]", ""))
    empty = f"(^|{re.escape(separator)}){re.escape(quote * 2)}(?={re.escape(separator)}|$)"
    return (
        lines.groupBy(F.input_file_name().alias("file"))
        .agg(
            F.max(names == first_names).alias("named"),
            F.max(quotes % 2 == 1).alias("odd"),
            F.max(F.regexp_replace(line, empty, "").contains(quote * 2)).alias("doubled"),
            F.max(line.contains(f"\\{quote}")).alias("escaped"),
        )
        .collect()
    )


def read_csv(spark: SparkSession, uri: str, options: Mapping[str, str]) -> DataFrame:
    """Return the rows, with the types of columns that Spark finds by reading the files once."""
    # Without the types, every column would be text.
    reader = spark.read.options(header="true", inferSchema="true")
    return reader.options(**options).csv(uri)


def require_names(context: str, name: str, frame: DataFrame, given: Mapping[str, str]) -> None:
    """Raise BadInput if the first row does not look like names of columns; else say what they are.

    Options of the user are not doubted.
    """
    columns = frame.columns
    if any("\0" in column or "\ufffd" in column for column in columns):
        raise BadInput(
            f"{context} is not in UTF-8; write {name}=csv,encoding=UTF-16:URI, or what it is"
        )
    if len(columns) == 1 and "sep" not in given:
        for character, word in _OTHER_SEPARATORS.items():
            if character in columns[0]:
                raise BadInput(
                    f"{context} has one column, {columns[0]!r}; if {word} separates columns, write "
                    f"{name}='csv,sep={word}:URI', else {name}=csv,sep=comma:URI"
                )
    if "header" in given or not columns:
        return
    values = [column for column in columns if _VALUE.fullmatch(column)]
    if values:
        raise BadInput(
            f"{context} has {join_names(columns)} in its first row; if these are values, write "
            f"{name}=csv,header=false:URI, and if they are names of columns, {name}=csv,header=true:URI"
        )
    say(f"{context}: its first row names the columns: {join_names(columns)}")
