"""Facts that a user declares: `--fact KEY=VALUE`."""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import BadInput


def parse_fact(text: str) -> tuple[str, str]:
    """Key and value of `KEY=VALUE`, without the blanks around them; the value may be empty.

    Raises BadInput where there is no key or no `=`.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        lacking = "a key before the '='" if equals else "an '='"
        raise BadInput(
            f"--fact {text!r} lacks {lacking}; write KEY=VALUE, for example --fact nic=RTL8156B"
        )
    return key, value


def parse_facts(texts: Iterable[str]) -> dict[str, str]:
    """All of a command line's facts, in order. Raises BadInput where a key is given twice."""
    facts: dict[str, str] = {}
    for text in texts:
        key, value = parse_fact(text)
        if key in facts:
            raise BadInput(f"--fact {key!r} is given twice; give each fact once")
        facts[key] = value
    return facts
