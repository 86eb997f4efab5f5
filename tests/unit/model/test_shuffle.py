"""Where a shuffle keeps its blocks, and who serves them."""

import pytest

from harness.model.shuffle import shuffle_facts

VOLUME = "spark.kubernetes.executor.volumes.{}.spark-local-dir-1.mount.path"


@pytest.mark.parametrize(
    ("conf", "service"),
    [
        ({}, "none"),
        ({"spark.shuffle.manager": "sort"}, "none"),
        ({"spark.shuffle.service.enabled": "true"}, "Spark's external service"),
        (
            {"spark.shuffle.service.enabled": "true", "spark.shuffle.push.enabled": "true"},
            "push-based, by Spark's external service",
        ),
        (
            {"spark.shuffle.manager": "org.apache.spark.shuffle.celeborn.SparkShuffleManager"},
            "Celeborn",
        ),
        (
            {
                "spark.shuffle.manager": "org.apache.spark.shuffle.gluten.celeborn.CelebornShuffleManager"
            },
            "Celeborn",
        ),
        (
            {
                "spark.shuffle.manager": "org.apache.spark.shuffle.RssShuffleManager",
                "spark.rss.coordinator.quorum": "digest:1234",
            },
            "Uniffle",
        ),
        (
            {"spark.shuffle.manager": "org.apache.spark.shuffle.RssShuffleManager"},
            "a remote shuffle service",
        ),
        (
            {
                "spark.shuffle.sort.io.plugin.class": "com.amazonaws.spark.shuffle.io.cloud.ChopperPlugin"
            },
            "S3 (AWS Glue)",
        ),
    ],
)
def test_the_service_has_a_name(conf: dict[str, str], service: str) -> None:
    assert shuffle_facts(conf, is_kubernetes=False) == {"shuffle service": service}


@pytest.mark.parametrize(
    ("conf", "volumes"),
    [
        ({}, "emptyDir"),
        ({"spark.kubernetes.local.dirs.tmpfs": "true"}, "emptyDir in memory"),
        ({VOLUME.format("hostPath"): "/data"}, "hostPath"),
        ({VOLUME.format("persistentVolumeClaim"): "/data"}, "persistentVolumeClaim"),
        # Another volume than those of the shuffle.
        ({"spark.kubernetes.executor.volumes.hostPath.logs.mount.path": "/logs"}, "emptyDir"),
    ],
)
def test_on_kubernetes_the_volumes_are_known(conf: dict[str, str], volumes: str) -> None:
    assert shuffle_facts(conf, is_kubernetes=True)["volumes of the shuffle"] == volumes
