"""What to use instead of commands and options that were removed, for one release."""

from collections.abc import Sequence

INSTEAD: dict[tuple[str, ...], str] = {
    **{
        (
            "local",
            system,
            command,
        ): f"use clusterlift local {system} run -- COMMAND, such as a shell"
        for system in ("hdfs", "qfs")
        for command in ("up", "status", "down")
    },
    ("local", "yarn"): "use a YARN of your own: docs/yarn.md",
    ("local", "s3", "--store"): "it is Ceph; of a MinIO of your own: docs/s3.md",
    ("probe", "all", "--sizes"): "use clusterlift probe mtu --sizes",
    **{
        (
            command,
            "--deploy-mode cluster",
        ): "use --deploy-mode client, on a machine that the executors can connect to"
        for command in ("run", "bench")
    },
    **{
        (command, "--hour"): "divide the cost per second saved by what a second is worth to you"
        for command in ("report", "predict")
    },
}
"""A sentence for each command or option that is gone.

A key is a command's words, or these and an option at the end, with its value if that alone is gone. An option
of a group is also looked for in the group's commands.
"""


def instead_of(words: Sequence[str]) -> str | None:
    """Return the sentence for arguments of `clusterlift` that name something removed, else None."""
    end = words.index("--") if "--" in words else len(words)  # the rest belongs to another program
    given = [part for word in words[:end] for part in _parts(word)]
    for key, sentence in INSTEAD.items():
        *command, last = key
        if last.startswith("-"):
            sought = last.split()
            is_given = given[: len(command)] == command and any(
                given[at : at + len(sought)] == sought for at in range(len(command), len(given))
            )
        else:
            is_given = given[: len(key)] == list(key)
        if is_given:
            return f"{' '.join(key)} was removed: {sentence}"
    return None


def _parts(word: str) -> list[str]:
    """Return the option and the value of `--option=value`."""
    return word.split("=", 1) if word.startswith("--") else [word]
