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

_REST = r"[\w.-]{0,64}"
"""The rest of a name. Without a limit, the time for a text of many names would be quadratic in its length."""
_VALUE = r"""(?:\\+"[^"\\]*\\*"?|"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|[^\s,;&"')}\]]+)"""
_WORD = r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'-][^\s"']*)"""

_NO_SENTENCE = r"(?!(?:is|or|and|has|was|must|needs|twice)\b)"
"""What follows is a value, and not the next word of a sentence about the name."""

_USER_INFO = re.compile(r"(?<=://)[^/\s]+@")
_ASSIGNMENT = re.compile(
    rf"""((?:{_SENSITIVE}|\bsig(?:nature)?){_REST}\\*["']?\s*(?:=|:(?=\s*\\*["']))\s*){_VALUE}"""
    r"""|(\b(?:pass(?:word|wd|phrase)|secret|(?<![\w-])(?:(?:proxy-)?authorization|private-token|api-key|cookie"""
    r"""|x-[\w-]{0,40}(?:key|token|secret|auth)[\w-]{0,20})):\s*"""
    rf"""(?:(?:bearer|basic|token|digest|apikey)\s+)?){_WORD}"""
    rf"""|((?<=[._])(?:{_SENSITIVE}){_REST}(?::\s+|(?<=\.key)\s+{_NO_SENTENCE})){_WORD}"""
    r"""|(\b(?:password|secret)\s+\d\s+|snmp-server\s+community\s+)\S+"""
    r"""|(\b(?:bearer|basic)\s+)[\w+/=.~-]{8,}""",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"""((?<![\w-])--?(?:(?=[\w.-]{{0,64}}?(?:{_SENSITIVE}))(?![\w.-]*(?:file|path|stdin|env|fd)\b)[\w.-]{{1,80}}"""
    rf"""|passin|passout)\s+{_NO_SENTENCE}){_WORD}"""
    r"""|((?<!\S)(?:-u\s*|-U\s*|--(?:proxy-)?user[=\s]\s*)["']?(?!\d+:\d)[^\s:%"'/=]{1,100}[:%])(?![/\s])[^\s"']+""",
    re.IGNORECASE,
)
_SHORT_OPTIONS = {
    r"(?:sshpass|(?:docker|podman)\s+login|mongo\w*)": r"p\s*",
    r"(?:mysql\w*|mariadb[\w-]*)": "p",
    r"(?:ipmitool|sqlcmd|unzip)": r"P\s*",
    "redis-cli": r"a\s*",
    r"ldap\w+": r"w\s*",
    r"snmp\w+": r"[cAX]\s*",
    "plink": r"pw\s+",
}
"""The options of programs that take a secret, where a letter means something else to other programs."""
_OF_PROGRAMS = [
    re.compile(rf"(\b{program}\b[^|;&\n]{{0,300}}?\s-{option})(?!\*\*\*){_WORD}")
    for program, option in _SHORT_OPTIONS.items()
]
_TOKEN = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*|(?:AKIA|ASIA)[A-Z0-9]{16}\b|gh[opsru]_\w{20,}|github_pat_\w{20,}"
    r"|(?:glpat|xox[abeprs])-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|AIza[\w-]{35}|hf_\w{30,}|npm_\w{36})"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
"""What is a secret whatever stands before it: keys and tokens whose issuers gave them a form."""


def without_credentials(text: str) -> str:
    """Return the text with `***` in place of credentials that have a known form.

    These are the user-info of a URI (`hdfs://user:password@host`), the value after a name, header or option
    that announces a secret (`password=...`, `"token": "..."`, `X-Api-Key: ...`, `--password ...`), the
    options of well-known programs for one (`curl -u`, `sshpass -p`), HTTP authorization, and tokens which
    have a form of their own. A secret without such a sign cannot be recognized: for values of unknown meaning
    use `digest`. The time that this takes is linear in the length of the text.
    """
    if "@" in text:
        text = _USER_INFO.sub(f"{HIDDEN}@", text)
    if "-" in text:
        text = _OPTION.sub(_hidden, text)
        for options in _OF_PROGRAMS:
            while (hidden := options.sub(_hidden, text)) != text:
                text = hidden
    return _TOKEN.sub(HIDDEN, _ASSIGNMENT.sub(_hidden, text))


def _hidden(match: re.Match[str]) -> str:
    """Return what announces a secret, and not the secret."""
    return f"{match[match.lastindex or 0]}{HIDDEN}"


_SECRET_WORD = re.compile(rf"((?:{_SENSITIVE})[^=]*=).*", re.IGNORECASE | re.DOTALL)


def redacted_command(words: Iterable[str]) -> str:
    """Return a command for a shell, with `***` in place of what a name in a word, or before it, announces."""
    hidden = (_SECRET_WORD.sub(rf"\g<1>{HIDDEN}", without_credentials(word)) for word in words)
    return without_credentials(shlex.join(hidden))


def digest(value: str) -> str:
    """Return a short digest: `digest:` and 16 bits of the value's SHA-256 in hexadecimal, `digest:9f86`.

    It shows that two values differ, except for one pair in 65,536. It is short on purpose: among a billion
    candidate passwords, some 15,000 have the same digest, so that a match confirms no guess.
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
                redacted(name): (below if below.startswith(DIGEST) else digest(below))
                if isinstance(below, str) and SENSITIVE_NAME.search(name)
                else redacted(below)
                for name, below in value.items()
            }
        case list() | tuple():
            return [redacted(below) for below in value]
        case _:
            return value
