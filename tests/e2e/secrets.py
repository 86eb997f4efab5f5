"""Forty secrets, each another text, in all the places of a run where users put them."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path

_PROPERTIES = """
spark.hadoop.fs.azure.account.key.box.blob.core.windows.net  {}
spark.hadoop.fs.azure.sas.container.box                      ?sv=2022&sig={}
spark.hadoop.fs.s3a.access.key                               {}
spark.hadoop.fs.s3a.secret.key                               {}
spark.hadoop.fs.s3a.session.token                            {}
spark.hadoop.fs.gs.auth.service.account.private.key          -----BEGIN{}
spark.hadoop.javax.jdo.option.ConnectionURL                  jdbc:postgresql://hive:{}@db/hive
spark.hadoop.javax.jdo.option.ConnectionPassword             {}
spark.hadoop.hadoop.security.credential.provider.path        jceks://file/{}
spark.hadoop.my.apikey                                       {}
spark.hadoop.my.credentials                                  {}
spark.hadoop.my.passwd                                       {}
spark.hadoop.my.pwd                                          {}
spark.hadoop.my.pin                                          {}
spark.executorEnv.DB_PASS                                    {}
spark.executorEnv.HARMLESS                                   {}
spark.yarn.appMasterEnv.AWS_SECRET_ACCESS_KEY                {}
spark.kubernetes.driverEnv.TOKEN                             {}
spark.ssl.keyPassword                                        {}
spark.ssl.keyStorePassword                                   {}
spark.ssl.trustStorePassword                                 {}
spark.redis.auth                                             {}
spark.cassandra.auth.password                                {}
spark.es.net.http.auth.pass                                  {}
spark.mongodb.read.connection.uri                            mongodb://app:{}@db/x
spark.snowflake.pem_private_key                              {}
spark.sql.catalog.lake.password                              {}
spark.sql.catalog.lake.url                                   jdbc:mysql://db/x?user=u&password={}
spark.sql.shuffle.mine                                       {}
spark.app.owner                                              {}
spark.driver.extraJavaOptions                                -Ddb.pass={} -Dtoken='{}' -Dpin={}
spark.executor.extraJavaOptions                              -Dhttp.proxyPassword={}
"""
_FACTS = (
    "token={}",
    "db_password={}",
    "api-key={}",
    "note=mounted from hdfs://alice:{}@n1:9000/x",
    "options=--password={} --verbose",
)


def plant(directory: Path) -> tuple[list[str], dict[str, str], list[str]]:
    """Write spark-defaults.conf to a directory; return all secrets, the environment and the options."""
    numbers = count()
    secrets: list[str] = []

    def filled(template: str) -> str:
        own = [f"s3cr3t{next(numbers):02}x" for _ in range(template.count("{}"))]
        secrets.extend(own)
        return template.format(*own)

    (directory / "spark-defaults.conf").write_text(filled(_PROPERTIES))
    facts = [f"--fact={filled(fact)}" for fact in _FACTS]
    environment = {"SPARK_CONF_DIR": str(directory), "DB_PASSWORD": filled("{}")}
    return secrets, environment, facts


def leaks(secrets: list[str], texts: Iterable[str | bytes]) -> dict[str, list[str]]:
    """Return, for each secret that occurs in a text, the beginnings of these texts."""
    found: dict[str, list[str]] = {}
    for text in texts:
        content = text.encode() if isinstance(text, str) else text
        for secret in secrets:
            if secret.encode() in content:
                found.setdefault(secret, []).append(repr(content[:60]))
    return found
