"""Where the image gets QFS from: a binary tarball of it, which is on no package registry."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from harness.errors import BadInput
from harness.lab.engine import docker
from harness.loopback.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome
from harness.spark_submit import ROOT

IN_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab:qfs"


def qfs_variables() -> dict[str, str]:
    """The build argument QFS_TARBALL as compose is to have it; empty if the image is there already.

    A file comes into the build context. Raises BadInput if there is no QFS anywhere.
    """
    if named := os.environ.get("QFS_TARBALL"):
        return {"QFS_TARBALL": named if "://" in named else _copied(Path(named))}
    if home := os.environ.get("QFS_HOME"):
        return {"QFS_TARBALL": _packed(QfsHome(Path(home).absolute()))}
    if docker("image", "ls", "--quiet", IMAGE).strip():
        return {}
    raise BadInput(
        "--storage qfs: set QFS_TARBALL to a binary tarball of QFS (a URL or a file), or QFS_HOME to "
        "where one was unpacked"
    )


def _copied(tarball: Path) -> str:
    try:
        shutil.copyfile(tarball, ROOT / IN_CONTEXT)
    except shutil.SameFileError:
        pass
    except OSError as error:
        raise BadInput(f"QFS_TARBALL is {tarball}: {error.strerror}") from error
    return IN_CONTEXT


def _packed(home: QfsHome) -> str:
    """The same bytes for the same files, so that the image is only made anew for others."""
    for program in PROGRAMS:
        home.program(program)
    home.class_path()  # complains of what lacks
    try:
        with (
            (ROOT / IN_CONTEXT).open("wb") as file,
            gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for part in sorted([*PROGRAMS, *_libraries(home)]):
                archive.add(home.directory / part, f"qfs/{part}")
    except OSError as error:
        raise BadInput(f"QFS_HOME is {home.directory}: {error.strerror}") from error
    return IN_CONTEXT


def _libraries(home: QfsHome) -> list[str]:
    files = [*home.libraries.glob("*.so*"), *home.libraries.glob("*.jar")]
    return [f"lib/{file.name}" for file in files]
