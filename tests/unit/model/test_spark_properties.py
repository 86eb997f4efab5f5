"""Of Spark's configuration, known properties are recorded with their values, all others as digests."""

import pytest

from harness.base.redaction import digest
from harness.model.spark_properties import recorded_properties, recorded_s3a


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.executor.memory", "4g"),
        ("spark.memory.fraction", "0.6"),
        ("spark.sql.adaptive.enabled", "true"),
        ("spark.sql.autoBroadcastJoinThreshold", "-1"),
        ("spark.io.compression.codec", "zstd"),
        ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
        ("spark.hadoop.fs.qfs.createParams", "1,6,3,65536,2"),
        ("spark.executor.extraJavaOptions", "-Xms1g -XX:+UseG1GC -XX:MaxGCPauseMillis=200"),
    ],
)
def test_a_known_property_has_its_value(name: str, value: str) -> None:
    assert recorded_properties({name: value}) == {name: value}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.hadoop.fs.azure.account.key.a", "abc=="),
        ("spark.hadoop.fs.s3a.bucket.rows.secret.key", "hunter2"),
        ("spark.hadoop.hadoop.security.credential.provider.path", "jceks://file/hunter2"),
        ("spark.executorEnv.DB_PASS", "hunter2"),
        ("spark.executorEnv.AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("spark.executorEnv.AWS_SESSION_TOKEN", "hunter2"),
        ("spark.executorEnv.AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/hunter2"),
        ("spark.executorEnv.AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/hunter2"),
        ("spark.kubernetes.authenticate.oauthToken", "hunter2"),
        ("spark.kubernetes.executor.secretKeyRef.AWS_SECRET_ACCESS_KEY", "hunter2:key"),
        ("spark.hadoop.fs.s3a.assumed.role.arn", "arn:aws:iam::123456789012:role/hunter2"),
        ("spark.sql.catalog.c.url", "jdbc:postgresql://u:p@h/db"),
        ("spark.executor.memory.mine", "4g"),
        ("spark.executor.memory", "hunter2"),  # not the form of such a value
        ("spark.app.name", "hunter2"),
        ("spark.driver.extraClassPath", "/home/alice/x.jar"),
    ],
)
def test_another_property_has_a_digest(name: str, value: str) -> None:
    assert recorded_properties({name: value}) == {name: digest(value)}


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        ("-Ddb.pass=hunter2 -Xmx4g", f"-Ddb.pass={digest('-Ddb.pass=hunter2')} -Xmx4g"),
        ("-Ddb.pass='hunter 2'", f"-Ddb.pass={digest('-Ddb.pass=hunter 2')}"),
        ("-javaagent:/a.jar=hunter2", f"-javaagent:{digest('-javaagent:/a.jar=hunter2')}"),
        ("hunter2 -XX:+UseG1GC", f"{digest('hunter2')} -XX:+UseG1GC"),
        ("-Ddb.pass='hunter2", digest("-Ddb.pass='hunter2")),
    ],
)
def test_an_unknown_option_of_java_has_its_name_and_a_digest(options: str, recorded: str) -> None:
    name = "spark.driver.extraJavaOptions"
    assert recorded_properties({name: options}) == {name: recorded}


UUID = "a7153f3c-91fd-4f4e-8cbe-6c33b21d4c1c"
OTHER = UUID.replace("a", "b")


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("spark.yarn.dist.files", f"hdfs:/tmp/{UUID}/a.py", f"hdfs:/tmp/{OTHER}/a.py"),
        (
            "spark.mine.path",
            "/stage/application_1699999999999_0001",
            "/stage/application_1700000000000_0002",
        ),
        ("spark.mine.path", "s3a://b/spark-" + 32 * "a", "s3a://b/spark-" + 32 * "b"),
        ("spark.mine.name", "benchmark-7fba1d9a1b2c3d4e", "benchmark-8fba1d9a1b2c3d4f"),
        ("spark.mine.at", "1795903447558", "1795903449999"),
        ("spark.mine.jwt", f"eyJ{20 * 'a'}.eyJ{20 * 'b'}.x", f"eyJ{20 * 'c'}.eyJ{20 * 'd'}.y"),
    ],
)
def test_what_is_generated_for_each_application_is_the_same_in_all(
    name: str, first: str, then: str
) -> None:
    assert recorded_properties({name: first}) == recorded_properties({name: then})


def test_another_path_is_another_value() -> None:
    one, other = (recorded_properties({"spark.mine.path": f"{path}/{UUID}"}) for path in "ab")
    assert one != other


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("spark:3.5.8", "spark:3.5.8"),
        ("apache/spark", f"spark ({digest('apache/spark')})"),
        (
            "123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/spark-py:v3",
            f"spark-py:v3 ({digest('123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/spark-py:v3')})",
        ),
        ("h:5000/a/b@sha256:0a1b", f"b ({digest('h:5000/a/b@sha256:0a1b')})"),
        ("user:password@h/a b", digest("user:password@h/a b")),
    ],
)
def test_an_image_has_its_name_and_no_registry(image: str, shown: str) -> None:
    for name in ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image"):
        assert recorded_properties({name: image}) == {name: shown}


def test_properties_are_sorted() -> None:
    assert list(recorded_properties({"b": "", "a": ""})) == ["a", "b"]


def test_a_secret_of_spark_is_the_same_one_in_each_cluster() -> None:
    for value in ("hunter2", "hunter3"):
        name = "spark.authenticate.secret"
        assert recorded_properties({name: value}) == {name: "***"}


def test_of_s3a_what_affects_reading_has_its_value_and_what_else_was_chosen_a_digest() -> None:
    in_force = {
        "fs.s3a.input.stream.type": "classic",
        "fs.s3a.readahead.range": "64K",
        "fs.s3a.select.enabled": "true",
        "fs.s3a.select.input.csv.header": "mine",
        "fs.s3a.endpoint": "http://gateway",
        "fs.s3a.access.key": "hunter2",
        "fs.s3a.secret.key": "hunter2",
        "fs.s3a.session.token": "hunter2",
        "fs.s3a.encryption.key": "hunter2",
        "fs.s3a.proxy.password": "hunter2",
        "fs.s3a.security.credential.provider.path": "jceks://file/hunter2",
    }
    chosen = in_force.keys() - {"fs.s3a.readahead.range", "fs.s3a.select.enabled"}
    assert recorded_s3a(in_force, chosen) == {
        "fs.s3a.input.stream.type": "classic",
        "fs.s3a.readahead.range": "64K",
        "fs.s3a.select.input.csv.header": digest("mine"),
    }
