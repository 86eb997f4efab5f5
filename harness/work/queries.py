"""The files of a user's queries. Each file `NAME.sql` has one query, which is the workload NAME."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.option_values import parse_configuration
from harness.base.words import join_names, natural_order

SUFFIX = ".sql"
MAX_BYTES = 2**20

_ADVICE = f"name a directory with a file NAME{SUFFIX} for each query"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class QueryDirectory:
    """The queries of a directory: the text and the file of each by its name, in the order of names.

    Numbers in names are ordered as numbers. `left_out` has the names of other files, without hidden ones.
    `path` is the directory.
    """

    texts: Mapping[str, str]
    files: Mapping[str, Path]
    left_out: Sequence[str]
    path: Path = Path()


def read_query_directory(directory: str) -> QueryDirectory:
    """Return the queries of a directory. Spark has to find out whether a text is a query.

    Raise BadInput, which names the directory or file, if no file is there, or if one cannot be a workload.
    """
    try:
        entries = [entry for entry in Path(directory).iterdir() if entry.name[0] != "."]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"{directory} is no directory; {_ADVICE}") from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise BadInput(f"{directory} {reason}; {_ADVICE}") from error
    files: dict[str, Path] = {}
    left_out: list[str] = []
    for entry in sorted(entries, key=lambda entry: natural_order(entry.stem)):
        if entry.suffix.lower() != SUFFIX or entry.is_dir():
            left_out.append(entry.name)
        elif entry.stem in files:
            raise BadInput(
                f"{entry} and {files[entry.stem].name} have one name: rename one of them"
            )
        else:
            files[entry.stem] = entry
    if not files:
        found = f" (it has {join_names(left_out)})" if left_out else ""
        raise BadInput(f"{directory} has no file *{SUFFIX}{found}; {_ADVICE}")
    texts = {name: _read(file) for name, file in files.items()}
    return QueryDirectory(texts, files, left_out, Path(directory))


def read_queries(directory: str) -> Mapping[str, str]:
    """Return the text of each query by its name. Raise BadInput like `read_query_directory`."""
    return read_query_directory(directory).texts


def text_digest(text: str) -> str:
    """Return what a run records of a query's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def text_digests(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each query's text by its name."""
    return {name: text_digest(text) for name, text in texts.items()}


def _read(file: Path) -> str:
    """Return the text, without blanks and the semicolon at its end."""
    try:
        if parse_configuration(file.stem) != file.stem or "," in file.stem:
            raise ValueError("its name cannot be that of a workload: rename it")
        # Spark's errors quote the text, which somebody else may have made a link to a secret.
        if file.parent.resolve() not in file.resolve().parents:
            raise ValueError("it is a link to a file outside of its directory: copy the file")
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            raise ValueError(f"it is no file of up to {MAX_BYTES:,} bytes")
        text = _decoded(file.read_bytes()).strip().rstrip("; \n\r\t")
        if not text:
            raise ValueError("it is empty")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise BadInput(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    return text


def _decoded(content: bytes) -> str:
    """Return text that is UTF-8, or begins with the mark of UTF-16. Raise ValueError if it is not."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no text in UTF-8: {error}; save it as UTF-8") from error
