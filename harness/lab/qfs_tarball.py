"""The binary tarball of QFS for the lab's image: QFS is in no package registry."""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from harness.lab.engine import docker
from harness.local_spark import ROOT
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome
from harness.model.errors import BadInput

IN_BUILD_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab:qfs"


def qfs_variables() -> dict[str, str]:
    """Return the build argument QFS_TARBALL; nothing if there is an image with QFS already.

    A tarball that is a file, or is made from QFS_HOME, is stored in the build context. Raises BadInput
    if there is no QFS to install.
    """
    if named := os.environ.get("QFS_TARBALL"):
        return {"QFS_TARBALL": named if "://" in named else _copy(Path(named))}
    if home := os.environ.get("QFS_HOME"):
        return {"QFS_TARBALL": _pack(QfsHome(Path(home).absolute()))}
    if docker("image", "ls", "--quiet", IMAGE).strip():
        return {}
    raise BadInput(
        "--storage qfs: set QFS_TARBALL to a binary tarball of QFS (a URL or a file), or QFS_HOME to "
        "the directory of an unpacked one"
    )


def _copy(tarball: Path) -> str:
    try:
        shutil.copyfile(tarball, ROOT / IN_BUILD_CONTEXT)
    except shutil.SameFileError:
        pass
    except OSError as error:
        raise BadInput(f"QFS_TARBALL is {tarball}: {error.strerror}") from error
    return IN_BUILD_CONTEXT


def _pack(home: QfsHome) -> str:
    """Pack what the image needs. The same files give the same bytes, for which Docker has a cache."""
    for program in PROGRAMS:
        home.program(program)
    home.class_path()  # raises BadInput if a library or a jar is missing
    files = [*home.libraries.glob("*.so*"), *home.libraries.glob("*.jar")]
    libraries = [f"lib/{file.name}" for file in files]
    try:
        with (
            (ROOT / IN_BUILD_CONTEXT).open("wb") as file,
            gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for name in sorted([*PROGRAMS, *libraries]):
                archive.add(home.directory / name, f"qfs/{name}")
    except OSError as error:
        raise BadInput(f"QFS_HOME is {home.directory}: {error.strerror}") from error
    return IN_BUILD_CONTEXT
