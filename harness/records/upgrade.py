"""Brings the lines of older results files to the current version of the schema.

A change of what is written raises the version if a reader of the version before would misread a line, or
refuse it: then that reader names the version instead. A new key of a free mapping (environment, parameters,
facts) does not: who does not know it, ignores it.

What a later version added is absent from older lines, and so unknown: versions 4 to 6, 8 and 9 only added
keys, and need no step.
"""

from typing import Any

from harness.model.spark_properties import recorded_properties

FIRST_WITH_CHECKSUMS = 3
"""Since this version, every line has a checksum, and unknown properties of Spark are digests."""

_RENAMED_IN_2 = (
    ((), "counted", "link_errors"),
    (("parameters",), "reading", "data_workloads"),
    (("parameters",), "unasked", "not_requested"),
    (("dataset",), "sharing", "co_located"),
    (("tasks",), "replay", "simulation"),
    (("tasks", "simulation"), "as_it_was_s", "unchanged_s"),
)
"""Where a key of version 1 is, its name there, and its name in version 2."""

_REMOVED_IN_7 = (
    *("periods", "throttled_periods", "cpu_wait_s", "disk_bytes", "thermal_throttles"),
    *("frequency_mhz", "read_bytes", "written_bytes"),
)
"""Keys of the nodes of a trial, and of its timeline, that nothing ever read."""


def upgrade_line(line: dict[str, Any], version: int) -> None:
    """Bring a line of an older version to the current one, in place; the order of the keys stays."""
    if version < 2:  # noqa: PLR2004  the version that _RENAMED_IN_2 names
        _rename_keys(line)
    if version < FIRST_WITH_CHECKSUMS and isinstance(line.get("environment"), dict):
        properties = line["environment"].get("spark_conf")
        if isinstance(properties, dict) and all(
            isinstance(each, str) for each in properties.values()
        ):
            line["environment"]["spark_conf"] = recorded_properties(properties)
    if version < 7 and line.get("kind") == "trial":  # noqa: PLR2004  the version that _REMOVED_IN_7 names
        for table in (line.get("timeline"), *_items(line.get("interference"))):
            if isinstance(table, dict):
                for key in _REMOVED_IN_7:
                    table.pop(key, None)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rename_keys(line: dict[str, Any]) -> None:
    if line.get("kind") == "trouble":
        line["kind"] = "excluded"
    for path, old, new in _RENAMED_IN_2:
        table: Any = line
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and old in table:
            renamed = {new if key == old else key: value for key, value in table.items()}
            table.clear()
            table.update(renamed)
