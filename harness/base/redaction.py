"""Credentials of a known form are replaced: results get published, and terminals get logged.

Every text that is recorded or printed passes `without_credentials`. A recorded value whose name announces a
secret becomes a short digest.
"""

from __future__ import annotations  # for Python 3.8

import hashlib
import re
import shlex
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

HIDDEN = "***"
DIGEST = "digest:"

_SENSITIVE = (
    r"(?<!com)(?<!by)(?<!by-)pass(?:word|wd|phrase|code)?(?![a-z])|(?<![a-z])pw(?![a-z])|pwd|secret"
    r"|token(?!s|i[sz]e|_?count)|credential|azure\.sas|redis\.auth"
    r"|(?:api|access|account|private|encryption|decryption|signing|storage|shared|master|subscription)"
    r"[._ -]?key"
)
SENSITIVE_NAME = re.compile(_SENSITIVE, re.IGNORECASE)
"""Matches the names of options, properties and facts that announce a secret."""


def _compiled_when_used(form: str) -> Callable[[], re.Pattern[str]]:
    """Return what compiles a form when it is first used: that takes time, and most texts need none."""
    return lru_cache(maxsize=None)(lambda: re.compile(form, re.IGNORECASE))


_REST = r"[\w.-]{0,64}"
"""The rest of a name. Without a limit, the time for a text of many names would be quadratic in its length."""
_STRING = (
    r"""(?:(?:[a-z]{1,2}&?(?=['"]))?(?:"""
    # Each form ends with its text, too, so that it is not tried again from a later place.
    r"""\\"(?:[^"\\]|\\\\\\"|\\(?!"))*(?:\\")?|\\{2,}"[^"\\]*\\*"?|\\+'[^'\\]*\\*'?"""
    r"""|"(?:[^"\\]|\\[\s\S]|"")*\\?"?|'(?:[^'\\]|\\[\s\S]|'')*\\?'?"""
    r"""))"""
)
"""A text in quotes, as SQL, JSON, and JSON within JSON write it."""
_STRINGS = rf"(?:{_STRING}(?:\s{{0,9}}(?:\|\||\+)\s{{0,9}}{_STRING}){{0,9}})"
_BARE = r"""[^\s,;&"')}\]]+"""
_BRACED = r"""\{[^{}"']{0,200}\}"""
"""A text in braces, as ODBC writes what has a semicolon."""
_VALUE = rf"(?:\w{{1,64}}\(\s{{0,9}}{_STRING}|{_STRINGS}|{_BRACED}|{_BARE})"
_WORD = r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'-][^\s"']*)"""

_GAP = r"(?:\s|/\*(?:[^*]|\*(?!/)){0,200}\*/|(?:--|#|//)[^\n]{0,200}\n){0,20}"
"""Blanks and comments."""
_QUOTE = r"""\\*["'`]"""
_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey)\s+)?"
_NO_SENTENCE = r"(?!(?:is|or|and|has|was|must|needs|twice)\b)"
"""A value follows, and not the next word of a sentence about the name."""
_NO_SQL = (
    r"(?!(?:is|or|and|not|in|as|on|by|to|of|from|where|like|between|group|order|having|limit|union|join|inner"
    r"|left|right|full|cross|using|values|set|asc|desc|then|when|else|end|string|varchar|char|text|binary|int"
    r"|bigint|comment|for|with|has|was|must|needs|twice|the|file|table|column|hash|rotation|policy)\b)"
)

_ANNOUNCEMENT = re.compile(
    rf"{_SENSITIVE}|sig|authorization|cookie|bearer|basic|x-|api-key|identified|snmp-server|crypt|hmac",
    re.IGNORECASE,
)
"""A text without any of these need not be looked at more closely; most texts have none."""
# A secret key of S3 may have a slash, where a host would have a port.
_USER_INFO = re.compile(r"(?<=://)(?:[^/\s]+|[^/:@\s]+:(?!\d+/)[^@\s]{1,200})@")
_ORACLE_USER = re.compile(r"(:(?:thin|oci8?):[^/\s@:]{1,64}/)[^\s@]{1,128}(?=@)", re.IGNORECASE)
_NAME = rf"(?:{_SENSITIVE}){_REST}"
_HEADER = (
    r"(?<![\w-])(?:(?:proxy-)?authorization|private-token|api-key|(?:set-)?cookie"
    r"|x-[\w-]{0,40}(?:key|token|secret|auth)[\w-]{0,20})"
)
_QUOTED_NAME = _compiled_when_used(
    # The value may stand behind a comma, as an argument, or behind the word "value".
    rf"""((?:{_NAME}|{_HEADER}){_QUOTE}{_GAP}(?:(?:=>|->|=|:|,){_GAP})?"""
    rf"""(?:{_QUOTE}?value{_QUOTE}?\s{{0,9}}[:=]\s{{0,9}})?){_STRINGS}""",
)
_BARE_NAME = _compiled_when_used(
    # password 'x', password is 'x', password('x')
    rf"""((?<!invalid )(?<!unexpected )(?<!missing ){_NAME}(?!\\|["'`]){_GAP}"""
    rf"""(?:(?:is|to|by|:=|<-|:|\(|(?:string|varchar\(\d{{1,9}}\)){_GAP}(?:default|=)){_GAP})?){_STRINGS}"""
    rf"""|(\bidentified{_GAP}(?:with\s+\w{{1,64}}\s+)?by{_GAP}(?:(?:password|values)\b{_GAP})?){_VALUE}"""
    rf"""|(\bpassword\s+for\s+\S{{1,128}}\s{{0,9}}=\s{{0,9}}){_VALUE}""",
)
_NO_LIST = r"(?!\(\s{0,9}\w{1,64}\s{0,9}=)"
"""What follows is no list of names with values. Each value of such a list is looked at by itself."""
_NO_COLUMN = rf"(?!\w{{1,64}}\.\w{{0,64}}?(?:{_SENSITIVE})\w{{0,64}}(?![\w.-]))"
"""No column of this kind follows, as in `a.token = b.token`."""
_ASSIGNMENT = _compiled_when_used(
    rf"""((?:{_NAME}|(?:\bsig|signature){_REST}|(?<![\w-])authorization)(?:{_QUOTE})?{_GAP}"""
    rf"""(?:=>|->|<-|:=|={{1,3}}|:(?=\s*\\*["'])){_GAP}{_SCHEME}){_NO_COLUMN}{_NO_LIST}{_VALUE}"""
    rf"""|(\b(?:pass(?:word|wd|phrase|code)|pw|pwd|secret|pass(?=:[^\s\d])|{_HEADER}"""
    r"""|(?:api|access|account|private|secret|client)[._-]?(?:key|token|secret)):\s*"""
    rf"""{_SCHEME}){_WORD}"""
    rf"""|((?<=[._])(?:{_SENSITIVE}){_REST}(?::\s+|(?<=\.key)\s+{_NO_SENTENCE})){_WORD}"""
    r"""|(\b(?:password|secret)\s+\d\s+|snmp-server\s+community\s+)\S+"""
    r"""|(\b(?:bearer|basic)\s+)(?=[\w+/=.~-]{0,200}(?-i:[A-Z0-9=+/]))[\w+/=.~-]{8,}"""
    rf"""|(<(?:\w{{1,64}}[:.])?{_NAME}>\s{{0,9}}|{_NAME}</name>\s{{0,99}}<value>\s{{0,9}})[^<\s][^<]*"""
    # (password,x) is how Scala shows a pair.
    r"""|((?<!\w)\((?:[\w.-]{0,64}(?:pass(?:word|wd|phrase)|pwd|secret)[\w.-]{0,64}),)[^\s,()]+(?=\))""",
)
_LAST_WORDS = (
    r"(?:(?<=[._-]password)|(?<=[._-]secret)|(?<=[._-]credential)"
    r"|(?<=(?:access|secret).key)|(?<=api.key)|(?<=session.token)|(?<=auth.token)|(?<=access.token)"
    r"|(?<=auth\.pass)|(?<=redis\.auth))"
)
_NEXT_WORD = _compiled_when_used(
    # A whole name, and a word that is not SQL's. A name is read at once: to try its parts would take long.
    rf"""((?<![\w.-])(?:passwd|[\w.-]{{3,160}}{_LAST_WORDS}"""
    # A property of Spark or Java, such as spark.ssl.keyStorePassword.
    r"""|(?=\w{1,64}\.)[\w.-]{3,160}(?:(?<=password)|(?<=secret))"""
    r"""|[\w.-]{0,99}?(?:azure\.sas|client\.secret|account\.key)\.[\w.-]{1,128})"""
    rf"""[ \t]{{1,9}}{_NO_SQL})(?![\d.]+(?:\s|$))[^\s"'`,;()=<>*-][^\s"',;()]*"""
    # Any such name, and a word of letters and digits.
    rf"""|((?<![\w.-])(?:{_NAME})[ \t]{{1,9}})(?=[^\s\d]{{0,64}}\d)(?=[^\sa-z]{{0,64}}[a-z])"""
    r"""(?!\w{0,64}\()[\w+/=!@#$%^&*~]{6,}(?![\w.(:])""",
)
_CRYPTOGRAPHY = _compiled_when_used(
    r"""(?<!\w)(?:\w{0,30}(?:en|de)crypt\w{0,30}|hmac\w{0,30})\s{0,9}\("""
    rf"""(?:[^()'"]|{_STRING}|\((?:[^()'"]|{_STRING}){{0,99}}\)){{0,499}}""",
)
"""Functions with a key among their arguments."""
_ANY_STRING = re.compile(_STRING, re.IGNORECASE)
_OPTION = _compiled_when_used(
    rf"""((?<![\w-])--?(?:(?=[\w.-]{{0,64}}?(?:{_SENSITIVE}))(?![\w.-]*(?:file|path|stdin|env|fd)\b)[\w.-]{{1,80}}"""
    rf"""|passin|passout)\s+{_NO_SENTENCE}){_WORD}"""
    r"""|((?<!\S)(?:-u\s*|-U\s*|--(?:proxy-)?user[=\s]\s*)["']?(?!\d+:\d)[^\s:%"'/=]{1,100}[:%])(?![/\s])[^\s"']+"""
    rf"""|((?<!\S)(?:-[unU]|--user(?:name)?)[\s=]\s{{0,9}}[\w.@-]{{1,64}}\s{{1,9}}-p\s{{1,9}})(?![\d:.]+(?:\s|$))(?=\S{{0,99}}\d){_WORD}"""
    r"""|((?<!\S)-p(?=["']))""" + _STRING,
)
_SHORT_OPTIONS = {
    r"(?:sshpass|(?:docker|podman)\s+login|mongo\w*)": r"p\s*",
    r"(?:mysql\w*|mariadb[\w-]*)": "p",
    r"(?:ipmitool|sqlcmd|unzip)": r"P\s*",
    "redis-cli": r"a\s*",
    r"ldap\w+": r"w\s*",
    r"snmp\w+": r"[cAX]\s*",
    "plink": r"pw\s+",
    "beeline": r"p\s+",
}
"""The options of programs that take a secret, where a letter means something else to other programs."""
_OF_PROGRAMS = [
    re.compile(rf"(\b{program}\b[^|;&\n]{{0,300}}?\s-{option})(?!\*\*\*){_WORD}")
    for program, option in _SHORT_OPTIONS.items()
]
_TOKEN = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*|(?:AKIA|ASIA)[A-Z0-9]{16}\b|gh[opsru]_\w{20,}|github_pat_\w{20,}"
    r"|(?:glpat|xox[abeprs])-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|AIza[\w-]{35}|hf_\w{30,}|npm_\w{36}"
    r"|dapi[0-9a-f]{32}|ya29\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|hvs\.[\w-]{20,}|sha256~[\w-]{20,}"
    r"|pypi-[\w-]{20,}|sk-(?=[a-zA-Z_-]{0,99}\d)[\w-]{20,})"
    r"|(?<=hooks\.slack\.com/services/)[\w/]{9,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
"""Secrets by their form alone, whatever stands before them: keys and tokens whose issuers gave them one."""


def without_credentials(text: str) -> str:
    """Return the text with `***` in place of credentials that have a known form.

    These are the user-info of a URI (`hdfs://user:password@host`), the value after a name, header or option
    that announces a secret (`password=...`, `"token": "..."`, `X-Api-Key: ...`, `--password ...`), the
    options of well-known programs for one (`curl -u`, `sshpass -p`), HTTP authorization, and tokens which
    have a form of their own. A secret without such a sign cannot be recognized: for values of unknown meaning
    use `digest`. The time that this takes is linear in the length of the text.
    """
    if "@" in text:
        text = _ORACLE_USER.sub(_hidden, _USER_INFO.sub(f"{HIDDEN}@", text))
    if "-" in text:
        text = _OPTION().sub(_hidden, text)
        for options in _OF_PROGRAMS:
            before = None
            while text != before:
                before = text
                text = options.sub(_hidden, before)
    if _ANNOUNCEMENT.search(text):
        for announced in (_QUOTED_NAME, _ASSIGNMENT, _BARE_NAME, _NEXT_WORD):
            text = announced().sub(_hidden, text)
        text = _CRYPTOGRAPHY().sub(_without_strings, text)
    return _TOKEN.sub(HIDDEN, text)


def _hidden(match: re.Match[str]) -> str:
    """Return what announces a secret, and not the secret."""
    return f"{match[match.lastindex or 0]}{HIDDEN}"


def _without_strings(call: re.Match[str]) -> str:
    return _ANY_STRING.sub(HIDDEN, call[0])


_SECRET_WORD = re.compile(rf"((?:{_SENSITIVE})[^=]*=).*", re.IGNORECASE | re.DOTALL)


def redacted_command(words: Iterable[str]) -> str:
    """Return a command for a shell, with `***` in place of values whose names announce a secret."""
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
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, (list, tuple)):
        return [redacted(below) for below in value]
    if isinstance(value, dict):
        return {redacted(name): _redacted_value(name, below) for name, below in value.items()}
    return value


def _redacted_value(name: str, value: Any) -> Any:
    is_secret = isinstance(value, str) and SENSITIVE_NAME.search(name)
    if not is_secret:
        return redacted(value)
    if value.startswith(DIGEST):
        return value
    return digest(value)
