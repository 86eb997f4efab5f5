"""Why a program failed: the one line, among all that it printed, which says most about that.

Programs print more than the reason: ssh warns, login shells greet, launchers say in a box that something
ended, Java prints where it was, and how a program is used follows what was wrong. So each line has a rank by
what it is evidence of, and the first line of the highest rank is the reason.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from harness.base.words import first_line, shorten, visible

OWN = "clusterlift: error: "
"""What begins a line by which a script of ours says why it ends."""
_MAX_TEXT = 2**16
"""Characters, half of them at the beginning and half at the end, among which the reason is looked for."""
_MAX_HEAD = 1_000
"""Characters of a line that say what it is."""


class Rank(IntEnum):
    """What a message is evidence of, from nothing to the cause itself."""

    NOISE = 0
    """It is printed whether the program fails or not."""
    WARNING = 1
    TEXT = 2
    """It may be a reason."""
    ENDED = 3
    """It says only that something failed."""
    BOX = 4
    """A launcher's message between two lines of dashes."""
    KILLED = 5
    ERROR = 6
    """It has a word such as "error" or "cannot"."""
    CONNECTION = 7
    """ssh says that its connection has ended."""
    CAUSE = 8
    """A loader, ssh or MPI says why it cannot go on."""
    OWN = 9
    """A script of ours says it, after what its programs say."""


class _Message(NamedTuple):
    rank: Rank
    text: str


# A terminal's colours, its title, and what else begins with an escape character.
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>])")
_NOISE = re.compile(
    r"ERROR: ld\.so: object .* ignored|Warning: Permanently added|^\*\* |^debug\d: |^OpenSSH_"
    r"|^(?:bash|-?[a-z]*sh|perl|manpath|man):.*(?:warning: )?set(?:ting )?locale|^perl: warning"
    r"|can't set the locale"
    # What needs a terminal, in a login shell that has none.
    r"|Inappropriate ioctl for device|is not a tty|^TERM |no job control|^tput: |cannot set terminal"
    r"|^Invalid MIT-MAGIC-COOKIE|^No protocol specified|^libGL error: "
    r"|^X11 forwarding request|^Warning: No xauth|^Warning: untrusted X11|^ControlSocket "
    r"|^(?:groups|id): cannot find name|^Could not chdir to home directory"
    r"|^Last login: |^You have (?:new |no )?mail"
    r"|multi-call binary|^(?:Try|For more information,? try|See) ['\"`]?.*--?h(?:elp)?\b"
    r"|(?:^|Error: )An error occurred while calling |^(?:Driver|JVM) stacktrace:"
    # JSON.
    r"|^\s*(?:[{}]|\"[^\"]*\"\s*:)"
    r"|^Picked up _?J|^SLF4J: |^ERROR StatusLogger "
    # A line of a banner's frame.
    r"|^([*#@|]).*\1$"
)
_FORWARDING = re.compile(
    r"^bind \[|^bind: Address already in use|^channel_setup_fwd_listener|"
    r"^Could not request (?:local|remote|dynamic)|^Warning: remote port forwarding|^mux_client_"
)
"""Ports of ~/.ssh/config that cannot be forwarded. ssh goes on, unless it was told to give up."""
_STARTUP_FILE = re.compile(
    r"^(?:-?\w*sh: (?:line )?(?:\d+: )?)?[^\s:]*"
    r"(?:/etc/profile(?:\.d/[^\s:]+)?|/\.\w*(?:rc|profile|login|env)|/config\.fish)(?::| \(line )"
    r"|^CommandNotFoundError: Your shell has not been properly configured"
)
"""What a login shell complains of before it runs the command: a file of the user has a mistake."""
_KEY = re.compile(
    r"^Load key .*: (?!bad permissions)|^no such identity: |^sign_and_send_pubkey: |^Warning: Identity file "
)
"""A key that ssh cannot use. It tries others, so this is the reason only if it has none left."""
_NO_KEY_LEFT = re.compile(r"Permission denied \(\S*publickey")
_PROXY = re.compile(
    r"^\S*sh: .*: (?:command )?not found$|^(?:nc|ncat|Ncat|netcat|socat\[\d+\]|corkscrew|websocket): "
    r"|^An error occurred \(\w+\) when calling the "
)
"""The program by which ssh reaches a host cannot do so. All that ssh says is that the connection closed."""
_AFTERMATH = re.compile(
    r"finished with failed status$|on a stopped SparkContext|on a running MetricsSystem$"
)
"""What Spark says when it has stopped for another reason."""
_WARNING = re.compile(
    r"(?i)\bwarn(?:ing)?\b|deprecated|(?:will be|is) (?:disabled|ignored|used instead)|^By default"
    r"|help message|error messages|job step aborted"
    r"|^\S+ [\d:.,]+ (?:INFO|DEBUG|TRACE)\b|\b(?:0|no) (?:errors?|fail)|errors?[:=] *0\b"
    r"|^Unable to find image '.*' locally$"
    # The log of kubectl, which says the reason once more when it ends.
    r"|^[DEFIW]\d{4} [\d:.]+ +\d+ \w+\.go:\d+\]|^sudo: unable to resolve host"
)
_BANNER = re.compile(r"^([*#@~])\1{3,}$.*?^\1{4,}$", re.MULTILINE | re.DOTALL)
# Open MPI prints between dashed lines, MPICH and Intel MPI between double ones.
_BOX = re.compile(r"^([-=])\1{4,}$(.+?)^\1{5,}$", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"\. | NOTE:")
_SIGNAL_OF_OPEN_MPI = re.compile(r"^\[[\w.-]+:\d+\] (?:Signal: |\*\*\* An error occurred in )")
_LOG_OF_OPEN_MPI = re.compile(r"^\[(?!mpiexec|proxy)[\w.-]+:\d+\]")
_MPI_ERROR = re.compile(r"\bMPI_ERR_\w+: .+")
_KILLED = re.compile("(?i)MPI_ABORT|exited on signal|killed by signal|failed to TCP connect")
_FAILED = (
    "(?:non-zero|exit code|exited (?:due to|improperly)|bad termination|terminated with exit|exiting$"
    "|occurred during initialization of VM)"
)
_ENDED = re.compile(f"(?i){_FAILED}")
_LOADER = re.compile(
    "error while loading shared libraries|cannot open shared object|symbol lookup error|"
    r"not found \(required by|Error (?:loading shared library|relocating)"
)
_SSH_CAUSE = re.compile(
    r"^ssh: |Permission denied \(|^Received disconnect from .*:|^Unable to negotiate|"
    r"^channel \d+: open failed|^Host key (?:for .* has changed|verification failed)|"
    r"^No \S+ host key is known|"
    r"^ssh_dispatch_run_fatal|Bad (?:configuration option|owner or permissions)|request failed on channel|"
    r"^Connection timed out during|^Connection to \S+ timed out|Timeout, server|^client_loop: |"
    r"^Connection to \S+ closed by|^Load key .*: bad permissions|"
    r"^Your account |not permitted to log in|^Password change required"
)
_CONNECTION = re.compile(
    r"^(?:ssh_exchange|kex_exchange)_identification: |^Connection (?:closed|reset) by |^Disconnected from "
)
_ERROR = re.compile(
    r"(?i)error|exception\b|fatal|severe|panic|cannot|can[`']t|couldn't|could not|unable to|not found|"
    r"no such|fail|denied|refused|unreachable|"
    r"not (?:permitted|installed|supported|responding|available|running)|"
    r"unrecognized|unknown|invalid|illegal|\bbad\b|missing|too many|timed out|out of memory|no space|"
    r"already in use|insufficient|terminate called|undefined symbol|segmentation fault|\bkilled\b|abort"
)
_RANKS = (
    (Rank.NOISE, _NOISE),
    (Rank.KILLED, _SIGNAL_OF_OPEN_MPI),
    (Rank.WARNING, _LOG_OF_OPEN_MPI),
    (Rank.WARNING, _WARNING),
    (Rank.WARNING, _FORWARDING),
    (Rank.WARNING, _STARTUP_FILE),
    (Rank.WARNING, _KEY),
    (Rank.ENDED, _AFTERMATH),
    (Rank.CAUSE, _LOADER),
    (Rank.CAUSE, _SSH_CAUSE),
    (Rank.CAUSE, _PROXY),
    (Rank.CONNECTION, _CONNECTION),
    (Rank.ENDED, re.compile(f"(?i)^(?=.*error).*{_FAILED}")),
    (Rank.WARNING, _ENDED),
    (Rank.ERROR, _ERROR),
    (Rank.TEXT, re.compile("")),
)
"""A line has the rank of the first pattern that is found in it."""
_USAGE = re.compile(r"(?i)^usage\b")
_WHAT_FOLLOWS = re.compile(r"^(?:>>> |what\(\):|java\.lang\.\w+Error: )")
_ANNOUNCEMENT = re.compile(r":$|^Error occurred during initialization of VM$")
_IN_A_STACK_OF_MPICH = re.compile(r"^\w+\([^)]*\)\.*: ?(.*)$")

_QUOTE = "['`\"\u2018\u2019]"
# A program that is not there, as shells and the programs that start others say it.
_NOT_FOUND = (
    re.compile(r"(?i)(?:command not found|unknown command): (\S+)$"),
    re.compile(r"(?i)(?:^|[: ])([^\s:]+): (?:command |inaccessible or )?not found\b"),
    re.compile(
        "(?:failed to (?:run command|execute)|execution of|^(?:env|nice|nohup):) "
        rf"{_QUOTE}?([^:\s]+?){_QUOTE}?: No such file"
    ),
)

NO_REASON = "no reason given"
MAX_REASON = 300
_PACKAGE = re.compile(r"^(?:\w+\.)+(?=\w+: )")
_TRACEBACK = "Traceback (most recent call last):"
_JAVA_FRAME = re.compile(r"^\s+(?:at \S|\.\.\. \d+ (?:more|common))")
_JAVA_CLASS = r"(?:[\w$]+\.)+[\w$]+(?:\([\w.$]+\))?"
_OF_A_TASK = re.compile(
    # Spark before 3.1 has host and executor behind the number. Without the first ^ and the limits, the time
    # for a long line would be quadratic in its length.
    r"^.*most recent failure: Lost task \S{1,32} in stage \S{1,32} "
    r"\(TID \d{1,20}(?:, [^)]{0,300})?\)(?: \([^)]{0,300}\))?: ",
    re.MULTILINE,
)
_JAVA_ERROR = re.compile(
    rf"(?:^Caused by: |^: |^Exception in thread \"[^\"]*\" |^{_OF_A_TASK.pattern})({_JAVA_CLASS}(?::.*)?$)"
    rf"|^({_JAVA_CLASS}(?:Exception|Error)(?::.*)?$)"
)


def failure_reason(*texts: str, least: Rank = Rank.WARNING) -> str:
    """Return the line that says why a program failed; empty if none has the `least` rank.

    `texts` are what it printed, the one that is trusted most first: its errors, and then its output. The next
    one counts only if those before say no more than that it failed.
    """
    best = _Message(Rank.NOISE, "")
    for text in texts:
        message = _strongest(text)
        if message.rank > best.rank:
            best = message
        if best.rank >= Rank.BOX:
            break
    if best.rank < least:
        return ""
    return best.text


def stated_error(output: str) -> str:
    """Return the line of an output that states an error; empty if it has only results and other text."""
    return failure_reason(output, least=Rank.BOX)


def is_turned_away(reason: str) -> bool:
    """Whether a reason says only that ssh was turned away, as by a server that has too much to do."""
    return bool(_CONNECTION.match(reason)) or reason.endswith("Connection refused")


def missing_program(text: str) -> str:
    """Return the program that a shell did not find, by its line; empty if it says something else."""
    for pattern in _NOT_FOUND:
        found = pattern.search(text)
        if found:
            return found[1]
    return ""


def reason_of(message: str) -> str:
    """Return why a task failed, in one line of MAX_REASON characters or less."""
    cause = _PACKAGE.sub("", cause_or_first_line(message, NO_REASON))
    return shorten(visible(cause), MAX_REASON)


def cause_or_first_line(text: str, nothing: str = "") -> str:
    """Return the innermost cause in a text, else its first line; `nothing` if it has none."""
    return innermost_cause(text) or _OF_A_TASK.sub("", first_line(text, nothing))


def innermost_cause(text: str) -> str:
    """Return the innermost cause in a stack of Java, or the error after one of Python; empty without one.

    A cause whose whole message stands in the one around it, which has more, is left out. An error of Spark
    that has stopped counts only if there is no other.
    """
    causes = list(_causes(text.splitlines()))
    if not causes:
        return ""
    causes = [each for each in causes if not _AFTERMATH.search(each)] or causes
    found = causes.pop()
    while causes:
        around = causes.pop()
        message = found.partition(": ")[2]
        if message and (message not in around or around.endswith(found)):
            break
        found = around
    return _OF_A_TASK.sub("", found)


def _causes(lines: Sequence[str]) -> Iterator[str]:
    """Yield the errors that have a stack, from the outermost to the innermost."""
    in_traceback = False
    for number, line in enumerate(lines):
        following = "".join(lines[number + 1 : number + 2])
        java = _JAVA_ERROR.match(line[:_MAX_TEXT])
        if line.rstrip().endswith(_TRACEBACK):
            in_traceback = True
        elif in_traceback and line.strip() and not line[0].isspace():
            in_traceback = False
            error = line.strip()
            if error.endswith(":"):
                next_lines = "\n".join(lines[number + 1 : number + 3])
                error = f"{error} {first_line(next_lines)}"
            yield error
        elif java:
            is_last_line = bool(_JAVA_FRAME.match(following) or following.startswith("Caused by: "))
            error = (java[1] or java[2]).strip()
            if error.endswith(":") and not is_last_line:
                error = f"{error} {following.strip()}"
            if java[1] or is_last_line:
                yield error


def _strongest(text: str) -> _Message:
    """Return the first message of the highest rank; of plain text, the last one."""
    text = _CONTROL.sub("", shorten(text, _MAX_TEXT)).replace("\r\n", "\n").replace("\r", "\n")
    cause = innermost_cause(text)
    if cause and not _AFTERMATH.search(cause):
        return _Message(Rank.CAUSE, cause)
    plain = _OF_A_TASK.sub("", _BOX.sub("", _BANNER.sub("", text)))
    messages = list(_lines(plain.splitlines()))
    messages += _boxes(text)
    strongest = _Message(Rank.NOISE, "")
    for message in messages:
        is_later_text = message.rank is strongest.rank and message.rank <= Rank.TEXT
        if message.rank > strongest.rank or is_later_text:
            strongest = message
    if cause and strongest.rank <= Rank.ENDED:
        return _Message(Rank.CAUSE, cause)
    if _NO_KEY_LEFT.search(strongest.text):
        unusable = [message.text for message in messages if _KEY.match(message.text)]
        return _Message(Rank.CAUSE, "; ".join([strongest.text, *unusable[:1]]))
    return strongest


def _boxes(text: str) -> Iterator[_Message]:
    for box in _BOX.finditer(text):
        # MPICH begins each line of a box with its frame.
        joined = " ".join(box[2].replace("\n=", "\n").split())
        yield _Message(_rank_of_box(joined), _SENTENCE_END.split(joined, maxsplit=1)[0])


def _rank_of_box(text: str) -> Rank:
    if _KILLED.search(text):
        return Rank.KILLED
    if _WARNING.search(text):
        return Rank.WARNING
    if _ENDED.search(text):
        return Rank.ENDED
    return Rank.BOX


def _lines(lines: Sequence[str]) -> Iterator[_Message]:
    """Yield the lines with their ranks, without stacks and without what says how to use the program."""
    is_help = False
    for number, line in enumerate(lines):
        if _USAGE.match(line):
            is_help = True
        rank, text = _ranked(line)
        if is_help and (line[:1].isspace() or rank <= Rank.TEXT):
            continue
        if rank >= Rank.ENDED:
            text = f"{text} {_continuation(text, lines[number + 1 :])}".strip()
        yield _Message(rank, text)


def _ranked(line: str) -> _Message:
    text = line.strip()
    head = text[:_MAX_HEAD]
    if not text or _JAVA_FRAME.match(line):
        return _Message(Rank.NOISE, text)
    if text.startswith(OWN):
        return _Message(Rank.OWN, text[len(OWN) :])
    mpi = _MPI_ERROR.search(head)
    if mpi:
        return _Message(Rank.CAUSE, mpi[0])
    return _Message(next(rank for rank, pattern in _RANKS if pattern.search(head)), text)


def _continuation(text: str, following: Sequence[str]) -> str:
    """Return what the next lines say of the reason, where this one only announces it; else nothing."""
    if text.endswith(("stack:", "stacktrace:")):
        return _innermost_of_mpich(following)
    next_line = first_line("\n".join(line.strip().strip("#") for line in following[:2]))
    if _WHAT_FOLLOWS.match(next_line) or _ANNOUNCEMENT.search(text):
        return next_line.strip("<> ")
    return ""


def _innermost_of_mpich(stack: Sequence[str]) -> str:
    """Return what the last line of a stack of MPICH says; empty if there is none."""
    said = ""
    for line in stack:
        found = _IN_A_STACK_OF_MPICH.match(line)
        if not found:
            break
        said = found[1] or said
    return said
