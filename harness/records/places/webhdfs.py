"""Where HDFS answers in HTTP: what a URL of HDFS and Hadoop's configuration say of its NameNodes."""

import getpass
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from harness.base.errors import BadInput
from harness.records.files import content_of

HDFS = ("hdfs", "webhdfs", "swebhdfs")
USUAL_PORT = 9870
_MOST_BYTES = 10**7
_CONFIGURATION = "HADOOP_CONF_DIR"


def webhdfs_options(scheme: str, rest: str) -> Iterator[Mapping[str, Any]]:
    """Yield what fsspec needs to reach each NameNode of a URL. A NameNode may be in standby.

    The port of `hdfs://` belongs to another protocol. Raise BadInput if there is none to reach.
    """
    properties = _properties()
    place = rest.partition("/")[0]
    place = place or _default(properties)
    if not place:
        raise BadInput(
            f"{scheme}://{rest} has no host; write {scheme}://HOST/PATH, or set {_CONFIGURATION}"
        )
    is_secure = scheme == "swebhdfs" or properties.get("dfs.http.policy") == "HTTPS_ONLY"
    addresses = [place]
    if scheme == "hdfs":
        addresses = _web_addresses(place, properties, "https" if is_secure else "http")
    for address in addresses:
        host, port = _host_and_port(address)
        yield {
            "host": host,
            "port": port,
            "user": _user(),
            "use_https": is_secure,
            "kerberos": properties.get("hadoop.security.authentication") == "kerberos",
        }


def _web_addresses(place: str, properties: Mapping[str, str], protocol: str) -> list[str]:
    """Return host:port of each NameNode's HTTP: of a name service, of this address, or the usual ones."""
    key = f"dfs.namenode.{protocol}-address"
    names = properties.get(f"dfs.ha.namenodes.{place}", "")
    found = [properties.get(f"{key}.{place}.{name.strip()}") for name in names.split(",")]
    addresses = [address for address in found if address]
    if addresses:
        return addresses
    if place in {properties.get("dfs.namenode.rpc-address"), _default(properties)}:
        own = properties.get(key)
        if own:
            return [own]
    host, _ = _host_and_port(place)
    return [f"{host}:{USUAL_PORT}"]


def _host_and_port(address: str) -> tuple[str, int]:
    """Return the host of an address, as URLs have it, and its port. Raise BadInput if it has no host."""
    try:
        parts = urlsplit(f"//{address}")
        port = parts.port or USUAL_PORT
    except ValueError as error:
        raise BadInput(f"{address} is no HOST:PORT of HDFS: {error}") from error
    host = parts.hostname
    if not host:
        raise BadInput(f"{address} is no HOST:PORT of HDFS: it has no host")
    if ":" in host:
        host = f"[{host}]"
    return host, port


def _user() -> str:
    """Return the user whose name HDFS is told. Raise BadInput if this one has none, as in a container."""
    try:
        return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    except (KeyError, OSError) as error:
        raise BadInput(
            f"HDFS wants to know a user, and user {os.getuid()} has no name here: set HADOOP_USER_NAME"
        ) from error


def _default(properties: Mapping[str, str]) -> str:
    return properties.get("fs.defaultFS", "").partition("://")[2].strip("/")


def _properties() -> Mapping[str, str]:
    """Return the properties of the files of Hadoop's configuration; none if there are no files."""
    directory = os.environ.get(_CONFIGURATION)
    properties: dict[str, str] = {}
    if not directory:
        return properties
    for name in ("core-site.xml", "hdfs-site.xml"):
        path = Path(directory) / name
        if path.exists():
            properties.update(_read(path))
    return properties


def _read(path: Path) -> Mapping[str, str]:
    try:
        root = ET.fromstring(content_of(path, _MOST_BYTES))  # noqa: S314  the user's own configuration
    except ET.ParseError as error:
        raise BadInput(f"{path} is no configuration of Hadoop: {error}") from error
    found: dict[str, str] = {}
    for each in root.iter("property"):
        name = each.findtext("name")
        if name:
            found[name.strip()] = (each.findtext("value") or "").strip()
    return found
