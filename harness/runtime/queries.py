"""The files of a user's queries: each file `NAME.sql` has one query, which is the workload NAME."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from harness.model.errors import BadInput
from harness.runtime.option_values import parse_configuration
from harness.words import natural_order

SUFFIX = ".sql"
MAX_BYTES = 2**20

_APART = re.compile(
    r"""--[^\n]*|/\*.*?\*/|\b[rR]'[^']*'|\b[rR]"[^"]*"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""",
    re.DOTALL,
)
"""Comments, literals and quoted names: what is in them is no part of a statement's structure."""
_QUERY = re.compile(r"[\s(]*(?:SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(?:INSERT\s+(?:INTO|OVERWRITE)|DELETE\s+FROM|MERGE\s+INTO|UPDATE\s+\S+\s+SET)\b",
    re.IGNORECASE,
)


def read_queries(directory: str) -> Mapping[str, str]:
    """Return the text of each query by its name, in the order of names, with numbers in them as numbers.

    Raise BadInput that names the directory or file if there is none, or if one cannot be a workload.
    """
    files = [file for file in Path(directory).glob(f"*{SUFFIX}") if file.name[0] != "."]
    if not files:
        reason = f"has no file *{SUFFIX}" if Path(directory).is_dir() else "is no directory"
        raise BadInput(f"{directory} {reason}; name one with a file NAME{SUFFIX} for each query")
    in_order = sorted(files, key=lambda file: natural_order(file.stem))
    return {file.stem: _read(file) for file in in_order}


def text_digest(text: str) -> str:
    """Return what a run records of a query's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def text_digests(texts: Mapping[str, str] | None) -> dict[str, str]:
    """Return the digest of each query's text by its name; without queries, none."""
    return {name: text_digest(text) for name, text in (texts or {}).items()}


def _read(file: Path) -> str:
    """Return the text, without blanks and the semicolon at its end."""
    try:
        if parse_configuration(file.stem) != file.stem or "," in file.stem:
            raise ValueError("its name cannot be that of a workload: rename it")
        if file.stat().st_size > MAX_BYTES or not file.is_file():
            raise ValueError(f"it is no file of up to {MAX_BYTES:,} bytes")
        text = file.read_text(encoding="utf-8").strip().rstrip("; \n\r\t")
    except (OSError, ValueError) as error:
        raise BadInput(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    structure = _APART.sub(lambda found: " " if found[0][:2] in {"--", "/*"} else " x ", text)
    if ";" in structure.strip().rstrip("; \n\r\t"):
        raise BadInput(f"{file} has several statements; give each query a file of its own")
    if not _QUERY.match(structure) or _WRITES.search(structure):
        first = next(iter(structure.split()), "nothing")
        raise BadInput(
            f"{file} is no query: it begins with {first}; a query begins with SELECT, WITH, FROM, VALUES or "
            "TABLE, and writes nothing"
        )
    return text
