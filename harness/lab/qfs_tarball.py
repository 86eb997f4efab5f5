"""The binary tarball of QFS for the lab's image: QFS is in no package registry."""

import gzip
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from harness.lab.engine import docker
from harness.local_spark import ROOT
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome
from harness.model.errors import BadInput
from harness.records.regular_file import content_of

IN_BUILD_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab"
MAX_BYTES = 2**30
"""Of a tarball, which is read as a whole."""


def qfs_variables(tag: str) -> dict[str, str]:
    """Return the build argument QFS_TARBALL; nothing if the image of this tag has QFS already.

    A tarball that is a file, or is made from QFS_HOME, is stored in the build context. Raises BadInput
    if there is no QFS to install.
    """
    if named := os.environ.get("QFS_TARBALL"):
        return {"QFS_TARBALL": named if "://" in named else _copy(Path(named))}
    if home := os.environ.get("QFS_HOME"):
        return {"QFS_TARBALL": _pack(QfsHome(Path(home).absolute()))}
    if docker("image", "ls", "--quiet", f"{IMAGE}:{tag}").strip():
        return {}
    raise BadInput(
        "--storage qfs: set QFS_TARBALL to a binary tarball of QFS (a URL or a file), or QFS_HOME to "
        "the directory of an unpacked one"
    )


def _copy(tarball: Path) -> str:
    with _replaced(f"QFS_TARBALL is {tarball}") as new:
        new.write(content_of(tarball, MAX_BYTES))
    return IN_BUILD_CONTEXT


def _pack(home: QfsHome) -> str:
    """Pack what the image needs. The same files give the same bytes, for which Docker has a cache."""
    for program in PROGRAMS:
        home.program(program)
    home.class_path()  # raises BadInput if a library or a jar is missing
    files = [*home.libraries.glob("*.so*"), *home.libraries.glob("*.jar")]
    libraries = [f"lib/{file.name}" for file in files]
    with (
        _replaced(f"QFS_HOME is {home.directory}") as new,
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=new, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in sorted([*PROGRAMS, *libraries]):
            archive.add(home.directory / name, f"qfs/{name}")
    return IN_BUILD_CONTEXT


@contextmanager
def _replaced(source: str) -> Iterator[BinaryIO]:
    """Provide a new file, and put it in the place of the build context's tarball once it is complete.

    Raise BadInput, which begins with the source, if that cannot be read or the file not be written.
    """
    target = ROOT / IN_BUILD_CONTEXT
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as file:
            yield file
        new.replace(target)
    except OSError as error:
        raise BadInput(f"{source}: {error.strerror}") from error
    except BadInput as error:
        raise BadInput(f"{source}: {error}") from error
    finally:
        new.unlink(missing_ok=True)
