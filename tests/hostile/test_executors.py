"""No message of an executor, which Spark lets in, harms the command that waits for it, or other executors.

The executor proves that it has the key, as each does, and then sends what it likes.
"""

import json
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.hosts.transports.spark import application, proxy
from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    ERRORS,
    EXIT_CODE,
    MAX_MESSAGE_BYTES,
    OUTPUT,
    PIECE_BYTES,
    connect,
    run_agent,
)
from harness.hosts.transports.spark.relay import Relay
from harness.model.errors import ClusterliftError
from harness.words import visible
from tests.campaigns.mutations import MUTATIONS
from tests.hostile.campaign import COUNTS, ONLY, SCALE, SEED, problem_of_text, reported
from tests.hostile.mutations import HOSTILE_TEXT, NUMBERS
from tests.waiting import eventually

SOUND = [OUTPUT + b"1500\n", ERRORS + b"a warning\n", EXIT_CODE + b"0"]
MUTATIONS_OF_EACH = 4

Messages = list[bytes]
KINDS: dict[str, Callable[[Messages, random.Random], Messages]] = {
    "cut": lambda sent, rng: sent[: rng.randrange(len(sent))],
    "message cut": lambda sent, rng: [each[: rng.randrange(len(each) + 1)] for each in sent],
    "empty message": lambda sent, rng: _with(sent, rng, b""),
    "another kind": lambda sent, rng: _with(sent, rng, rng.randbytes(rng.randrange(1, 100))),
    "no code": lambda sent, rng: [*sent[:-1], EXIT_CODE + rng.choice(NUMBERS).encode()],
    "too long": lambda sent, rng: _with(sent, rng, OUTPUT + bytes(MAX_MESSAGE_BYTES)),
    "flood": lambda sent, rng: [rng.choice(SOUND[:2])[:1] + b"x" * PIECE_BYTES] * 64 + sent,
    "control characters": lambda sent, rng: _with(sent, rng, ERRORS + HOSTILE_TEXT.encode()),
    "another order": lambda sent, rng: rng.sample(sent, len(sent)),
    "after the end": lambda sent, _: [*sent, *sent],
}


def _with(sent: Messages, rng: random.Random, message: bytes) -> Messages:
    at = rng.randrange(len(sent) + 1)
    return [*sent[:at], message, *sent[at:]]


def sends(relay: Relay, name: str, messages: Sequence[bytes]) -> None:
    """Be an executor that answers a command with these messages, and goes."""
    with suppress(*CONNECTION_LOST), connect(("127.0.0.1", relay.port), relay.key, name) as own:
        own.recv_bytes()
        for message in messages:
            own.send_bytes(message)


def test_no_message_harms_who_waits_for_it_or_another_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    pipes = SimpleNamespace(read=lambda *_: b"", write=lambda _, text: len(text))
    monkeypatch.setattr(proxy, "os", pipes)
    monkeypatch.setattr(proxy, "say", said.append)

    def run(name: str) -> int:
        eventually(lambda: name in relay.await_agents(0, 0))
        return proxy.run_command(str(tmp_path / "relay"), name, "true")

    problems = []
    with Relay(tmp_path / "relay", ("127.0.0.1", 0), agents=2) as relay:
        arguments = (("127.0.0.1", relay.port), relay.key, "sound")
        sound = threading.Thread(target=run_agent, args=arguments)
        sound.start()
        for kind, number in product(KINDS, range(round(SCALE * MUTATIONS_OF_EACH))):
            place = f"executor/{kind}/{number}"
            if ONLY and place != ONLY:
                continue
            COUNTS.kinds[kind] += 1
            messages = KINDS[kind](SOUND, random.Random(f"{SEED}/{place}"))  # noqa: S311
            executor = threading.Thread(target=sends, args=(relay, place, messages))
            executor.start()
            said.clear()
            try:
                code = run(place)
            except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
                problems.append(f"{place}: {error!r:.300}")
            else:
                if not -1000 < code < 1000:
                    problems.append(f"{place}: exit code {code}")
                if len(said) > 1:
                    problems.append(f"{place}: {said}")
            executor.join()
        assert run("sound") == 0
    sound.join()
    reported(problems)


def test_a_list_of_executors_that_no_spark_would_send_is_one_error() -> None:
    problems = []
    for name, (_, text) in MUTATIONS.items():
        for line in (text, f"[{text}]", f'[["node1", {text}]]', f'[[{text}, "0"]]'):
            try:
                application._agents(line)
            except ClusterliftError as error:
                found = problem_of_text(visible(str(error)))
                problems += [f"{name}: {found}"] if found else []
            except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
                problems.append(f"{name}: {error!r:.300}")
    reported(problems)


@pytest.mark.parametrize("host", ["-x", "a b", "a=b", "$(id)", ""])
def test_what_is_no_name_of_a_host_is_refused(host: str) -> None:
    with pytest.raises(ClusterliftError, match="is not a host name"):
        application._agents(json.dumps([(host, "0")]))
