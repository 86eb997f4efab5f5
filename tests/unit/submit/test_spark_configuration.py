"""A copy of the user's own configuration of Spark, with more properties set."""

import stat
from pathlib import Path

import pytest

from harness.submit.spark_configuration import with_properties, write_spark_configuration

ADDED = {"spark.driver.extraClassPath": "/q.jar", "spark.hadoop.fs.qfs.impl": "Q"}


def test_the_user_s_properties_are_kept() -> None:
    assert with_properties("spark.ui.enabled false", ADDED) == (
        "spark.ui.enabled false\nspark.driver.extraClassPath /q.jar\nspark.hadoop.fs.qfs.impl Q\n"
    )


@pytest.mark.parametrize("between", [" ", "=", " : ", "\t"])
def test_the_user_s_class_path_is_kept(between: str) -> None:
    text = f"#spark.driver.extraClassPath /no\n  spark.driver.extraClassPath{between}/a.jar:/b \n"
    *_, class_path, last = with_properties(text, ADDED).splitlines()
    assert class_path == "spark.driver.extraClassPath /q.jar:/a.jar:/b"
    assert last == "spark.hadoop.fs.qfs.impl Q"


def test_the_copy_can_be_changed_and_removed_whatever_the_user_s_own_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    (own / "more").mkdir(parents=True)
    (own / "spark-defaults.conf").write_bytes(b"# f\xfcr uns\nspark.a b\n")
    for path in (own / "spark-defaults.conf", own / "more", own):
        path.chmod(0o555)
    monkeypatch.setenv("SPARK_CONF_DIR", str(own))
    conf = tmp_path / "conf"
    write_spark_configuration(conf, ADDED)
    text = (conf / "spark-defaults.conf").read_bytes()
    assert text.startswith(b"# f\xfcr uns\nspark.a b\nspark.driver.extraClassPath ")
    changeable = (conf, conf / "more", conf / "spark-defaults.conf")
    assert all(path.stat().st_mode & stat.S_IWUSR for path in changeable)
