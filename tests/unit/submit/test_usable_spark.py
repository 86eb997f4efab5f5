"""A Spark that is too old, or that cannot use the Java of this machine, is refused before it is started."""

from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.submit.usable_spark import require_usable_spark, spark_version
from tests.programs import shell_program


def spark(directory: Path, version: str) -> Path:
    home = directory / f"spark-{version}"
    (home / "jars").mkdir(parents=True)
    (home / f"jars/spark-core_2.12-{version}.jar").touch()
    return home


def java(
    directory: Path, version: str, release: str = "release", program: str = "bin/java"
) -> Path:
    """Install a Java that prints no version, and return what JAVA_HOME would be."""
    shell_program(directory / program, "exit 1")
    (directory / release).write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return (directory / program).parents[1]


@pytest.mark.parametrize(
    "version", ["3.5.9", "3.5.1-amzn-0", "3.3.2.3.3.7190.0-91", "4.0.0-SNAPSHOT"]
)
def test_the_version_is_in_the_name_of_a_jar(version: str, tmp_path: Path) -> None:
    assert spark_version(spark(tmp_path, version)) == version
    assert spark_version(tmp_path) == ""


def test_a_spark_that_is_too_old(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^this is Spark 3\.2\.4, and 3\.3 or newer is needed"):
        require_usable_spark(spark(tmp_path, "3.2.4"))


@pytest.mark.parametrize(
    ("version", "found", "message"),
    [
        ("3.5.9", "25.0.2", "Spark 3.5.9 cannot use Java 25.0.2: it needs Java 8 to 22. Set JAVA_"),
        ("4.3.0", "11.0.13", "Spark 4.3.0 cannot use Java 11.0.13: it needs Java 17 or newer."),
        ("4.3.0", "17.0.9", None),
        ("3.3.4", "1.8.0_392", None),
    ],
)
@pytest.mark.parametrize("program", ["bin/java", "jre/bin/java"])
def test_a_java_is_judged_by_its_release_file(
    version: str,
    found: str,
    message: str | None,
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = java(tmp_path / "java", found, program=program)
    monkeypatch.setenv("JAVA_HOME", str(home))
    own = spark(tmp_path, version)
    if message is None:
        require_usable_spark(own)
        return
    with pytest.raises(BadInput) as raised:
        require_usable_spark(own)
    assert str(raised.value).startswith(message)


def test_a_java_on_the_path_is_the_file_that_its_links_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java(tmp_path / "java", "25.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").symlink_to(home / "bin/java")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(BadInput, match=r"cannot use Java 25\.0\.2"):
        require_usable_spark(spark(tmp_path, "3.5.9"))


def test_a_java_without_a_release_file_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell_program(tmp_path / "bin/java", """echo 'openjdk version "11.0.2" 2019-01-15' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=r"cannot use Java 11\.0\.2"):
        require_usable_spark(spark(tmp_path, "4.3.0"))


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadInput) as raised:
        require_usable_spark(spark(tmp_path, "4.3.0"))
    assert str(raised.value) == (
        f"no Java in {tmp_path}/bin: install one (17 or newer) for Spark 4.3.0, or set JAVA_HOME to one"
    )


def test_a_java_that_spark_chooses_itself_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    own = spark(tmp_path, "4.3.0")
    (own / "conf").mkdir()
    (own / "conf/spark-env.sh").write_text("export JAVA_HOME=/usr/lib/jvm/17\n")
    require_usable_spark(own)
