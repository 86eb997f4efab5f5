"""What to use instead of commands and options that were removed, for one release."""

from collections.abc import Sequence

_CLIENT_MODE = "use --deploy-mode client, on a machine that the executors can connect to"

INSTEAD: dict[tuple[str, ...], str] = {
    **{(name,): f"use clusterlift local {name} instead" for name in ("hdfs", "qfs", "s3")},
    **{
        (
            "local",
            system,
            command,
        ): f"use clusterlift local {system} run -- COMMAND, such as a shell"
        for system in ("hdfs", "qfs")
        for command in ("up", "status", "down")
    },
    **dict.fromkeys([("yarn",), ("local", "yarn")], "use a YARN of your own: docs/yarn.md"),
    ("local", "s3", "--store"): "it is Ceph; of a MinIO of your own: docs/s3.md",
    **dict.fromkeys([("plan",), ("power",), ("aa",), ("noise",)], "use clusterlift ready instead"),
    ("compare", "--earlier"): "name the configuration before: clusterlift compare BEFORE AFTER",
    ("probe", "--alone"): "use --pairs-at-once 1 instead",
    ("probe", "--exhaustive"): "all pairs are measured unless --rounds is given",
    ("probe", "path"): "use clusterlift probe mesh and clusterlift probe latency instead",
    ("probe", "all", "--sizes"): "use clusterlift probe mtu --sizes",
    ("probe", "incast"): "use clusterlift probe racks, or clusterlift probe mesh, instead",
    **{
        (command, option): "reach hosts by ssh, docker, network namespaces or locally"
        for command in ("probe", "program", "doctor")
        for option in ("--via spark", "--spark-options", "--spark-port")
    },
    ("lab", "verify"): "use clusterlift probe mesh --lab instead",
    (
        "lab",
        "up",
        "--racks",
    ): "all nodes are in one rack: use clusterlift probe racks on hosts of your own",
    ("lab", "up", "--uplink"): "use clusterlift lab link --rate instead",
    ("benchmark.py", "--expect-link"): "use clusterlift gate --expect instead",
    ("export",): "each line of results/*/*.jsonl is JSON; DuckDB, pandas and Spark read them",
    ("compare", "--format csv"): "--format json has all digits, too",
    ("predict", "--figure"): "clusterlift report has the pictures",
    ("predict", "--layout"): "measure a copy of the data in that layout, and predict from it",
    ("predict", "--copy"): "predict from the configuration that was measured on the copy",
    ("score",): "use clusterlift predict BASELINE --score AFTER instead",
    ("scaling", "--format"): "use clusterlift compare --format json",
    ("scaling", "--figure"): "the tables have the numbers",
    ("run", "--deploy-mode cluster"): _CLIENT_MODE,
    ("bench", "--deploy-mode cluster"): _CLIENT_MODE,
    **{
        (command, "--hour"): "divide the cost per second saved by what a second is worth to you"
        for command in ("report", "predict")
    },
    ("packets",): "use clusterlift compare --probes, or the page of clusterlift probe mtu --sizes",
}
"""A sentence for each command or option that is gone.

A key is a command's words (`("score",)`), or the words of a command or script and an option at the end, with
its value if that alone is gone (`("probe", "--via spark")`, `("benchmark.py", "--deploy-mode cluster")`). An
option of a group is also looked for in the group's commands.
"""


def instead_of(words: Sequence[str]) -> str | None:
    """Return the sentence for a command line that names something removed, else None.

    `words` are the arguments of `clusterlift`, or the name of a script and its arguments.
    """
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
