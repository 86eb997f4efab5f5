"""QFS for the lab's image, from QFS_HOME: QFS is in no package registry."""

import gzip
import os
import tarfile
from io import BytesIO

from harness.lab.cluster import LabSpec
from harness.lab.engine import docker
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, QfsHome, qfs_home
from harness.submit.script import ROOT

IN_BUILD_CONTEXT = "docker/qfs.tgz"
PROGRAMS = (METASERVER, CHUNKSERVER, PING, "bin/tools/qfs", "bin/tools/qfsfileenum")
IMAGE = "clusterlift-lab"


def qfs_variables(shape: LabSpec) -> dict[str, str]:
    """Pack what QFS_HOME has, and return the build argument QFS_TARBALL. A lab without QFS needs none.

    Without QFS_HOME, return nothing if the lab's image has QFS already. Raise BadInput if there is no QFS to
    install.
    """
    if "qfs" not in shape.storages:
        return {}
    image = f"{IMAGE}:{shape.storage_variable}"
    if not os.environ.get("QFS_HOME") and docker("image", "ls", "--quiet", image).strip():
        return {}
    target = ROOT / IN_BUILD_CONTEXT
    new = target.with_suffix(".new")
    new.write_bytes(_pack(qfs_home()))
    new.replace(target)
    return {"QFS_TARBALL": IN_BUILD_CONTEXT}


def _pack(home: QfsHome) -> bytes:
    """Pack what the image needs. The same files give the same bytes, for which Docker has a cache."""
    files = [home.program(name) for name in PROGRAMS]
    files += home.jars()
    files += home.libraries.glob("*.so*")
    packed = BytesIO()
    with (
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for file in sorted(files):
            archive.add(file, f"qfs/{file.relative_to(home.directory)}")
    return packed.getvalue()
