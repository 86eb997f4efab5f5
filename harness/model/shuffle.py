"""Where a shuffle keeps its blocks, by Spark's configuration: in which volumes, and with which service."""

from __future__ import annotations  # for Python 3.8

import re
from typing import Mapping

_VOLUME = re.compile(
    r"spark\.kubernetes\.executor\.volumes\.(?P<type>\w+)\.spark-local-dir-[^.]+\.mount\.path"
)
_IN_MEMORY = "spark.kubernetes.local.dirs.tmpfs"
_SERVICES = {
    "celeborn": "Celeborn",
    "uniffle": "Uniffle",
    "riffle": "Riffle",
    "magnet": "Magnet",
    "s3shuffle": "S3",
    "chopper": "S3 (AWS Glue)",
    "crail": "Crail",
    "ucx": "UCX",
}
"""The services by a word in the class that Spark loads for them."""
_RSS = "rssshuffle"
"""In the class of several services. Uniffle's properties begin with spark.rss."""
_CLASSES = ("spark.shuffle.manager", "spark.shuffle.sort.io.plugin.class")
_OWN_SERVICE = {
    "spark.shuffle.push.enabled": "push-based, by Spark's external service",
    "spark.shuffle.service.enabled": "Spark's external service",
}


def shuffle_facts(conf: Mapping[str, str], *, is_kubernetes: bool) -> dict[str, str]:
    """Return who serves the blocks of a shuffle, and on Kubernetes in which volumes executors keep them."""
    found = {"shuffle service": _service(conf)}
    if is_kubernetes:
        found["volumes of the shuffle"] = _volumes(conf)
    return found


def _volumes(conf: Mapping[str, str]) -> str:
    types = {match["type"] for match in map(_VOLUME.fullmatch, conf) if match}
    if types:
        return " and ".join(sorted(types))
    if conf.get(_IN_MEMORY, "").lower() == "true":
        return "emptyDir in memory"
    return "emptyDir"


def _service(conf: Mapping[str, str]) -> str:
    for name in _CLASSES:
        class_ = conf.get(name, "").lower()
        if _RSS in class_:
            is_uniffle = any(each.startswith("spark.rss.") for each in conf)
            return "Uniffle" if is_uniffle else "a remote shuffle service"
        for word, service in _SERVICES.items():
            if word in class_:
                return service
    for name, service in _OWN_SERVICE.items():
        if conf.get(name, "").lower() == "true":
            return service
    return "none"
