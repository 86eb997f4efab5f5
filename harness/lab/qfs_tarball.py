"""The binary tarball of QFS for the lab's image: QFS is in no package registry."""

import gzip
import os
import tarfile
from io import BytesIO
from pathlib import Path

from harness.lab.engine import docker
from harness.local_spark import ROOT
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome
from harness.model.errors import BadInput
from harness.records.files import content_of

IN_BUILD_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab"
MAX_BYTES = 2**30
"""The largest tarball: it is read as a whole."""


def qfs_variables(tag: str) -> dict[str, str]:
    """Return the build argument QFS_TARBALL; nothing if the image of this tag has QFS already.

    A tarball that is a file, or is made from QFS_HOME, is stored in the build context. Raises BadInput
    if there is no QFS to install.
    """
    named, home = os.environ.get("QFS_TARBALL"), os.environ.get("QFS_HOME")
    if named and "://" in named:
        return {"QFS_TARBALL": named}
    if named:
        tarball = content_of(Path(named), MAX_BYTES)
    elif home:
        tarball = _pack(QfsHome(Path(home).absolute()))
    elif docker("image", "ls", "--quiet", f"{IMAGE}:{tag}").strip():
        return {}
    else:
        raise BadInput(
            "--storage qfs: set QFS_TARBALL to a binary tarball of QFS (a URL or a file), or QFS_HOME to "
            "the directory of an unpacked one"
        )
    target = ROOT / IN_BUILD_CONTEXT
    new = target.with_suffix(".new")
    new.write_bytes(tarball)
    new.replace(target)
    return {"QFS_TARBALL": IN_BUILD_CONTEXT}


def _pack(home: QfsHome) -> bytes:
    """Pack what the image needs. The same files give the same bytes, for which Docker has a cache."""
    for program in PROGRAMS:
        home.program(program)
    home.class_path()  # raises BadInput if a library or a jar is missing
    files = [*home.libraries.glob("*.so*"), *home.libraries.glob("*.jar")]
    packed = BytesIO()
    with (
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for name in sorted([*PROGRAMS, *(f"lib/{file.name}" for file in files)]):
            archive.add(home.directory / name, f"qfs/{name}")
    return packed.getvalue()
