"""Credentials of a known form are replaced: results get published, and terminals get logged.

What is recorded or printed passes `without_credentials`. A recorded value whose name announces a secret
becomes a short digest.
"""

import hashlib
import re
import shlex
from collections.abc import Iterable
from typing import Any

HIDDEN = "***"
DIGEST = "digest:"

_SENSITIVE = (
    r"(?<!com)(?<!by)(?<!by-)pass(?:word|wd|phrase|code)?(?![a-z])|pwd|secret|token(?!s)|credential"
    r"|(?:api|access|account|private|encryption|signing|storage|shared)[._-]?key"
)
SENSITIVE_NAME = re.compile(_SENSITIVE, re.IGNORECASE)
"""Matches the names of options, properties and facts that announce a secret."""

_USER_INFO = re.compile(r"(?<=://)[^/\s]+@")
_ASSIGNMENT = re.compile(
    rf"""((?:{_SENSITIVE}|\bsig(?:nature)?)[\w.-]*["']?\s*(?:=|:(?=\s*["']))\s*)"""
    r"""("[^"]*"|'[^']*'|[^\s,;&"')}\]]+)""",
    re.IGNORECASE,
)
_AUTHORIZATION = re.compile(r"\b((?:Bearer|Basic)\s+)[\w+/=.~-]{8,}", re.IGNORECASE)


def without_credentials(text: str) -> str:
    """Return the text with `***` in place of credentials that have a known form.

    These are the user-info of a URI (`hdfs://user:password@host`), the value after a name that announces a
    secret (`password=...`, `"token": "..."`), and HTTP authorization. A secret without such a sign cannot be
    recognized: for values of unknown meaning use `digest`.
    """
    if "@" in text:
        text = _USER_INFO.sub(f"{HIDDEN}@", text)
    return _AUTHORIZATION.sub(rf"\g<1>{HIDDEN}", _ASSIGNMENT.sub(rf"\g<1>{HIDDEN}", text))


_SECRET_OPTION = re.compile(rf"((?:{_SENSITIVE})[^=]*=).*", re.IGNORECASE | re.DOTALL)


def redacted_command(words: Iterable[str]) -> str:
    """Return a command for a shell, with `***` in place of every word's part that announces a secret."""
    return shlex.join(_SECRET_OPTION.sub(rf"\g<1>{HIDDEN}", without_credentials(w)) for w in words)


def digest(value: str) -> str:
    """Return a short digest: `digest:` and 16 bits of the value's SHA-256 in hexadecimal, `digest:9f86`.

    It shows that two values differ, except for one pair in 65,536. It is short on purpose: among a billion
    candidate passwords, some 15,000 have the same digest, so that nobody can confirm a guess.
    """
    return DIGEST + hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()[:4]


def redacted(value: Any) -> Any:
    """Return a JSON value with every text in it redacted, at any depth.

    If a key's name announces a secret, the whole text that is its value becomes a digest.
    """
    match value:
        case str():
            return without_credentials(value)
        case dict():
            return {
                redacted(name): _as_digest(below)
                if isinstance(below, str) and SENSITIVE_NAME.search(name)
                else redacted(below)
                for name, below in value.items()
            }
        case list() | tuple():
            return [redacted(below) for below in value]
        case _:
            return value


def _as_digest(value: str) -> str:
    return value if value.startswith(DIGEST) else digest(value)
