"""The files of a user's queries. A file `NAME.sql` has one query, or several: NAME-1, NAME-2.

Statements before a query, such as SET, run in the query's session.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.option_values import parse_configuration, parse_pairs
from harness.base.words import join_names, natural_order
from harness.work.statements import (
    is_before_a_query,
    key_of_set,
    placeholder_name,
    statements_in,
    with_values,
)

SUFFIX = ".sql"
MAX_BYTES = 2**20

_ADVICE = f"name a directory with a file NAME{SUFFIX} for each query"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BEFORE_A_QUERY = "SET, USE and CREATE TEMPORARY VIEW"


@dataclass(frozen=True)
class SqlFile:
    """A file of statements. The text is without blanks and semicolons at its end."""

    path: Path
    text: str


@dataclass(frozen=True)
class QueryDirectory:
    """The files of a directory by name, in the order of names. Numbers in names are ordered as numbers.

    `left_out` has the names of other files and of directories, without hidden ones. `path` is the directory.
    """

    files: Mapping[str, SqlFile]
    left_out: Sequence[str]
    path: Path = Path()


@dataclass(frozen=True)
class QueryText:
    """A query, the file that has it, and the statements that run before it in its session."""

    path: Path
    query: str
    before: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """What a run records of it."""
        return text_digest(";\n".join((*self.before, self.query)))


def read_query_directory(directory: str) -> QueryDirectory:
    """Return the files of a directory. Spark has to find out whether a text is a query.

    Raise BadInput, which names the directory or file, if no file is there, or if one cannot be a workload.
    """
    try:
        entries = [entry for entry in Path(directory).iterdir() if entry.name[0] != "."]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"{directory} is no directory; {_ADVICE}") from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise BadInput(f"{directory} {reason}; {_ADVICE}") from error
    paths: dict[str, Path] = {}
    left_out: list[str] = []
    for entry in sorted(entries, key=lambda entry: natural_order(entry.stem)):
        if entry.is_dir():
            left_out.append(f"{entry.name}/")
        elif entry.suffix.lower() != SUFFIX:
            left_out.append(entry.name)
        elif entry.stem in paths:
            raise BadInput(
                f"{entry} and {paths[entry.stem].name} have one name: rename one of them"
            )
        else:
            paths[entry.stem] = entry
    if not paths:
        found = f" (it has {join_names(left_out)})" if left_out else ""
        raise BadInput(f"{directory} has no file *{SUFFIX}{found}; {_ADVICE}")
    files = {name: SqlFile(path, _read(path)) for name, path in paths.items()}
    return QueryDirectory(files, left_out, Path(directory))


def read_setup(path: str) -> SqlFile:
    """Return the file of statements that run before each query. Raise BadInput that names it."""
    file = Path(path)
    return SqlFile(file, _text_in(file))


def read_definitions(texts: Sequence[str]) -> dict[str, str]:
    """Return the values of placeholders by name. Raise BadInput if one has no name, or no value."""
    found = parse_pairs(texts, "--sql-define", "name", "day=2026-01-31")
    for name, value in found.items():
        if not re.fullmatch(r"[\w.-]+", name):
            raise BadInput(f"--sql-define {name!r} is no name of a placeholder: use letters and _")
        if "${" in value:
            raise BadInput(f"--sql-define {name}: a value cannot have a placeholder itself")
    return found


def queries_in(
    directory: QueryDirectory, setup: SqlFile | None = None, values: Mapping[str, str] | None = None
) -> dict[str, QueryText]:
    """Return the queries of all files by name, with the statements of `setup` before each.

    `values` are the values of placeholders. Raise BadInput, which names the file, if a placeholder has no
    value, if a file has no query, or if two queries have one name; also if no text has one of the
    placeholders.
    """
    placeholders = _Placeholders(values or {})
    first: list[str] = []
    if setup:
        first = placeholders.filled(setup.path, statements_in(setup.text))
        for statement in first:
            if not is_before_a_query(statement):
                raise BadInput(f"{setup.path} may have {BEFORE_A_QUERY} alone")
    found: dict[str, QueryText] = {}
    for name, file in directory.files.items():
        own = _queries_of(file, first, placeholders)
        for number, query in enumerate(own, 1):
            numbered = name if len(own) == 1 else f"{name}-{number}"
            if numbered in found:
                raise BadInput(
                    f"{file.path} and {found[numbered].path.name} both have a query {numbered}: rename one"
                )
            found[numbered] = query
    placeholders.require_used()
    return found


def _queries_of(
    file: SqlFile, first: Sequence[str], placeholders: _Placeholders
) -> list[QueryText]:
    statements = statements_in(file.text)
    filled = placeholders.filled(file.path, statements, first)
    if len(filled) == 1 and file.text.startswith(filled[0]):
        filled = [file.text]  # with the comments behind it: its digest is that of older results
    before = list(first)
    found: list[QueryText] = []
    for statement in filled:
        if is_before_a_query(statement):
            before.append(statement)
        else:
            found.append(QueryText(file.path, statement, tuple(before)))
    if not found:
        raise BadInput(
            f"{file.path} has no query, but {BEFORE_A_QUERY} alone: move it to --sql-setup"
        )
    return found


class _Placeholders:
    """The values that a user gives, and which of them were needed."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._used: set[str] = set()

    def filled(self, path: Path, statements: Sequence[str], first: Sequence[str] = ()) -> list[str]:
        """Return the statements of a file with values. Raise BadInput if neither user nor SET gives one.

        `first` are statements of another file that run before them.
        """
        by_spark = {key_of_set(statement) for statement in first}

        def value_of(inside: str) -> str | None:
            name = placeholder_name(inside)
            if name in self._values:
                self._used.add(name)
                return self._values[name]
            if name in by_spark:
                return None
            raise _no_value(path, inside, name)

        found: list[str] = []
        for statement in statements:
            found.append(with_values(statement, value_of))
            by_spark.add(key_of_set(statement))
        return found

    def require_used(self) -> None:
        """Raise BadInput if no text has one of the placeholders."""
        for name in self._values:
            if name not in self._used:
                raise BadInput(f"--sql-define {name}: no query has the placeholder ${{{name}}}")


def _no_value(path: Path, inside: str, name: str) -> BadInput:
    plain = name.rpartition(":")[2]  # of the environment, for example
    advice = f"give --sql-define {plain}=VALUE"
    if plain != name:
        advice = f"write ${{{plain}}}, and {advice}"
    return BadInput(f"{path}: the placeholder ${{{inside}}} has no value: {advice}")


def text_digest(text: str) -> str:
    """Return what a run records of a query's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def text_digests(queries: Mapping[str, QueryText]) -> dict[str, str]:
    """Return the digest of each query's text by its name."""
    return {name: query.digest for name, query in queries.items()}


def _read(file: Path) -> str:
    """Return the text of a file in a directory of queries."""
    try:
        if parse_configuration(file.stem) != file.stem or "," in file.stem:
            raise ValueError("its name cannot be the name of a workload: rename it")
        # Spark's errors quote the text, which somebody else may have made a link to a secret.
        if file.parent.resolve() not in file.resolve().parents:
            raise ValueError("it is a link to a file outside of its directory: copy the file")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise BadInput(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    return _text_in(file)


def _text_in(file: Path) -> str:
    """Return the text, without blanks and the semicolons at its end. Raise BadInput that names the file."""
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            raise ValueError(f"it is no file of up to {MAX_BYTES:,} bytes")
        text = _decoded(file.read_bytes()).strip().rstrip("; \n\r\t")
        if not statements_in(text):
            raise ValueError("it is empty" if not text else "it has nothing but comments")
    except (OSError, ValueError) as error:
        raise BadInput(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    return text


def _decoded(content: bytes) -> str:
    """Return text that is UTF-8, or begins with the mark of UTF-16. Raise ValueError if it is not."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no text in UTF-8: {error}; save it as UTF-8") from error
