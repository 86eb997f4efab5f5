"""How close to their input a benchmark's tasks ran in the lab, from Spark's event log."""

import json
from collections import Counter

from harness.lab.cluster import Lab

EVENTS = "/tmp/events"  # noqa: S108  in the container


def event_log_options(lab: Lab) -> list[str]:
    """Empty the log directory and return the options with which a benchmark writes its event log."""
    lab.master.execute("rm", "-rf", EVENTS)
    lab.master.execute("install", "-d", "-m", "777", EVENTS)
    properties = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{EVENTS}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.locality.wait": "30s",
    }
    return [f"--conf={key}={value}" for key, value in properties.items()]


def localities(lab: Lab) -> Counter[str]:
    """Return the number of tasks that read input, by locality."""
    log = lab.master.execute("sh", "-c", f"cat {EVENTS}/app-*")
    ended = [json.loads(line) for line in log.splitlines() if '"SparkListenerTaskEnd"' in line]
    reading = [event for event in ended if event["Task Metrics"]["Input Metrics"]["Bytes Read"]]
    return Counter(event["Task Info"]["Locality"] for event in reading)
