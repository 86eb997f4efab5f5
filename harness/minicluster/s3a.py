"""S3A, Hadoop's client of object stores: its jars, and the properties with which Spark reaches a store."""

from collections.abc import Mapping
from pathlib import Path

from harness.local_spark import hadoop_version, spark_home
from harness.minicluster.jar import Artifact, fetched
from harness.model.errors import BadInput

JARS = Path(__file__).with_name("s3a-jars.txt")
"""Checksum and coordinates of each jar, those of the modules of the SDK that S3A uses."""


def s3a_properties(endpoint: str, access_key: str, secret_key: str) -> Mapping[str, str]:
    """Return Spark's properties for a store at this URL, without TLS.

    Raises BadInput or ClusterliftError if the jars cannot be had.
    """
    classes = s3a_class_path()
    hadoop = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": access_key,
        "secret.key": secret_key,
    }
    return {
        **{f"spark.{who}.extraClassPath": classes for who in ("driver", "executor") if classes},
        **{f"spark.hadoop.fs.s3a.{key}": value for key, value in hadoop.items()},
    }


def s3a_class_path() -> str:
    """Return the class path of S3A's jars, which are fetched first; empty if Spark has them.

    Raises BadInput for a Hadoop whose jars are not known, ClusterliftError if they cannot be fetched.
    """
    home = spark_home()
    if any((home / "jars").glob("hadoop-aws-*.jar")):
        return ""
    artifacts = s3a_artifacts()
    known = next(artifact.version for artifact in artifacts if artifact.name == "hadoop-aws")
    if (version := hadoop_version(home)) != known:
        raise BadInput(
            f"the jars of S3A are known for Hadoop {known}, and {home} has Hadoop {version}: put "
            f"hadoop-aws-{version}.jar, and the jars that it needs, into {home / 'jars'}"
        )
    jars = fetched(artifacts, "13 MB", f"s3a-{known}")
    return f"{jars[0].parent}/*"


def s3a_artifacts() -> list[Artifact]:
    """Return what the file of the jars lists."""
    artifacts = []
    for line in JARS.read_text(encoding="utf-8").splitlines():
        sha256, coordinates = line.split()
        group, name, version = coordinates.split(":")
        artifacts.append(Artifact(group, name, version, sha256))
    return artifacts
