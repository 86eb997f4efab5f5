"""What may become of an answer: each kind of mutation, as a function of the sound answer and of chance."""

import json
import random
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tests.hostile.answers import COMMANDS, EVIL, SOUND
from tests.hostile.world import Answer, Asked
from tests.json_values import JSON_VALUES

TOO_LATE_S, LATE_S = 1000.0, 25.0
FLOOD_BYTES = 4 * 2**20
"""More than any answer may have."""
NUMBERS = (
    *("9" * 5000, "1e400", "1e308", "nan", "inf", "-1", "0", "0.0000001", str(2**64), str(2**63)),
    *("1" + "0" * 24, "\u0663", "\u00b2", "1_000", "0x10", "1.2.3", "", "-", "99999999999999999.9"),
    *("4294967295", "1000000000000", " ", "1" * 400),
)
HOSTILE_TEXT = "\x1b]0;owned\x07\x1b[2J\x00\r\u202e\u2066\x9b token=hunter2 "
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Case:
    """A sound answer, the command that it answers, and the chance that mutates it."""

    asked: Asked
    answer: Answer
    rng: random.Random

    def with_text(self, change: Callable[[bytes], bytes]) -> Answer:
        """Return the answer with one of its texts changed: output, errors, or what comes later."""
        answer = self.answer
        places = [name for name in ("output", "errors") if getattr(answer, name)]
        place = self.rng.choice([*places, *range(len(answer.later))] or ["output"])
        if isinstance(place, str):
            changed: dict[str, Any] = {place: change(getattr(answer, place))}
            return replace(answer, **changed)
        later = list(answer.later)
        later[place] = (later[place][0], change(later[place][1]))
        return replace(answer, later=tuple(later))

    def with_lines(self, change: Callable[[list[bytes]], list[bytes]]) -> Answer:
        """Return the answer with other lines."""
        return self.with_text(lambda text: b"\n".join(change(text.split(b"\n"))))

    def with_json(self, change: Callable[[Any], str]) -> Answer:
        """Return the answer with a JSON document in it changed; another one has a wrong number."""
        text = self.answer.output
        for document in (text, *(line for line in text.split(b"\n") if line[:1] in (b"[", b"{"))):
            with suppress(ValueError):
                changed = change(json.loads(document)).encode(errors="surrogatepass")
                return replace(self.answer, output=text.replace(document, changed))
        return _number(self)


def _cut(case: Case) -> Answer:
    return case.with_text(lambda text: text[: case.rng.randrange(len(text) + 1)])


def _inserted(case: Case, piece: bytes) -> Answer:
    def insert(text: bytes) -> bytes:
        at = case.rng.randrange(len(text) + 1)
        return text[:at] + piece + text[at:]

    return case.with_text(insert)


def _number(case: Case) -> Answer:
    def change(text: bytes) -> bytes:
        places = list(_NUMBER.finditer(text))
        if not places:
            return text
        number = case.rng.choice(NUMBERS).encode()
        if case.rng.random() < 0.2:  # all of them
            return _NUMBER.sub(lambda _: number, text)
        place = case.rng.choice(places)
        return text[: place.start()] + number + text[place.end() :]

    return case.with_text(change)


def _word(case: Case) -> Answer:
    """Replace a word by one that is very long."""

    def change(text: bytes) -> bytes:
        words = list(re.finditer(rb"[A-Za-z]{2,}", text))
        if not words:
            return text
        place = case.rng.choice(words)
        return text[: place.start()] + b"x" * 120_000 + text[place.end() :]

    return case.with_text(change)


_MARK = "\N{REPLACEMENT CHARACTER}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return each container in a JSON value with one of its keys."""
    if not isinstance(value, dict | list):
        return []
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [*((value, key) for key in keys), *(p for key in keys for p in _places(value[key]))]


def _json_value(case: Case) -> Answer:
    def change(document: Any) -> str:
        text = case.rng.choice(list(JSON_VALUES.values()))
        if places := _places(document):
            container, key = case.rng.choice(places)
            container[key] = _MARK
        return json.dumps(document, ensure_ascii=False).replace(f'"{_MARK}"', text)

    return case.with_json(change)


def _json_key(case: Case) -> Answer:
    """Leave a key out, or have it twice."""
    twice = case.rng.random() < 0.5

    def change(document: Any) -> str:
        places = [place for place in _places(document) if isinstance(place[0], dict)]
        if not places:
            return json.dumps(document)
        container, key = case.rng.choice(places)
        value = container.pop(key)
        if twice:
            container[key] = _MARK
            again = f'{json.dumps(value)}, {json.dumps(key)}: "x"'
            return json.dumps(document, ensure_ascii=False).replace(f'"{_MARK}"', again)
        return json.dumps(document)

    return case.with_json(change)


def _deep(case: Case) -> Answer:
    text = case.rng.choice([b"[", b'{"x":']) * case.rng.choice([100, 5000, 100_000])
    return case.with_text(lambda _: text)


def _other_command(case: Case) -> Answer:
    other = COMMANDS[case.rng.choice(list(COMMANDS))]
    words = (*case.asked.words, "-s", "64", "--host", "10.0.0.1:1", EVIL)
    text = other.answer_to(Asked(case.asked.host, words)).output
    return case.with_text(lambda _: text)


def _other_host(case: Case) -> Answer:
    words = tuple(
        word.replace(case.asked.host, SOUND[0]) if word else word for word in case.asked.words
    )
    for command in COMMANDS.values():
        if re.search(command.sign, case.asked.text, re.DOTALL):
            return command.answer_to(Asked(SOUND[0], words))
    return _other_command(case)  # a guard has no words


def _shuffled(lines: list[bytes], rng: random.Random) -> list[bytes]:
    return rng.sample(lines, len(lines))


def _without_one(lines: list[bytes], rng: random.Random) -> list[bytes]:
    del lines[rng.randrange(len(lines))]
    return lines


def _one_twice(lines: list[bytes], rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(lines))
    return [*lines[:at], lines[at], *lines[at:]]


def _flooded(case: Case) -> Answer:
    piece = case.rng.choice([b"x", b"y\n", b"\n", b"[],", b"\xff", b"pwd", b"/proc/x:1\n"])
    flood = piece * (FLOOD_BYTES // len(piece))
    return replace(case.answer, output=case.answer.output + flood)


KINDS: dict[str, Callable[[Case], Answer]] = {
    "cut": _cut,
    "empty": lambda case: replace(case.answer, output=b"", errors=b"", later=()),
    "endless output": _flooded,
    "flood of errors": lambda case: replace(case.answer, errors=b"error: no\n" * 500_000),
    "long error": lambda case: replace(
        case.answer, output=b"", errors=b"error: " + b"pwd" * 30_000, code=1
    ),
    "number": _number,
    "long word": _word,
    "JSON value": _json_value,
    "JSON key": _json_key,
    "deep nesting": _deep,
    "control characters": lambda case: _inserted(case, HOSTILE_TEXT.encode()),
    "bad UTF-8": lambda case: _inserted(case, b"\xff\xc3\x28\xed\xa0\x80"),
    "answer of another command": _other_command,
    "answer of another host": _other_host,
    "line left out": lambda case: case.with_lines(lambda x: _without_one(x, case.rng)),
    "line twice": lambda case: case.with_lines(lambda x: _one_twice(x, case.rng)),
    "lines in another order": lambda case: case.with_lines(lambda x: _shuffled(x, case.rng)),
    "late": lambda case: replace(case.answer, after_s=case.answer.after_s + LATE_S),
    "too late": lambda case: replace(case.answer, after_s=TOO_LATE_S),
    "never": lambda _: Answer(stays=True, is_deaf=True),
    "no login": lambda _: Answer(stays=True, is_deaf=True, logs_in=False),
    "refused": lambda _: Answer(
        errors=b"ssh: connect to host: Connection refused\n", code=255, logs_in=False
    ),
    "exit code": lambda case: replace(
        case.answer, code=case.rng.choice([1, 2, 7, 126, 127, 137, 255]), stays=False
    ),
    "banner": lambda case: replace(case.answer, banner=b"Welcome!\n" * 10_000 + b"\xff\n"),
}
"""By a name for people."""


def mutated(kind: str, asked: Asked, answer: Answer, rng: random.Random) -> Answer:
    """Return an answer in place of the sound one."""
    return KINDS[kind](Case(asked, answer, rng))
