"""A bucket of an object store: the settings of S3A that are in force for it, and its objects."""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from datagen.filesystem import Directory
from harness.base.errors import BadInput
from harness.base.http_request import Credentials, Request, ask
from harness.model.spark_properties import S3A, S3A_OWN, S3A_STORE, recorded_s3a

STANDARD = "STANDARD"
DEFAULTS = "core-default.xml"
"""The source of a property that the user has not set."""
_NAMESPACE = re.compile(rb' xmlns="[^"]*"')


def setting(conf: Any, bucket: str, name: str, prefix: str = S3A) -> str | None:
    """Return the value of `<prefix><name>` that is in force for a bucket; None if it is not set.

    A value for one bucket overrides that for all, as S3A has it.
    """
    value = conf.get(f"{prefix}bucket.{bucket}.{name}") or conf.get(f"{prefix}{name}")
    if not value:
        return None
    return str(value)


def endpoint(conf: Any, bucket: str) -> str | None:
    """Return scheme, host and port of a bucket's server; None for AWS's own."""
    text = setting(conf, bucket, "endpoint")
    if text is None:
        return None
    if "://" in text:
        return text.rstrip("/")
    is_secure = (setting(conf, bucket, "connection.ssl.enabled") or "").lower() != "false"
    scheme = "https" if is_secure else "http"
    return f"{scheme}://{text}"


@dataclass(frozen=True)
class StoredObject:
    """An object, as the server lists it: what is its own is in `element`."""

    name: str
    bytes: int
    storage_class: str
    element: ET.Element

    @classmethod
    def of(cls, element: ET.Element, prefix: str) -> StoredObject:
        return cls(
            _text(element, "Key")[len(prefix) :],
            int(_text(element, "Size")),
            element.findtext("StorageClass") or STANDARD,
            element,
        )


@dataclass(frozen=True)
class Bucket:
    """The bucket of a directory. Every method raises BadInput if the server does not answer as it should."""

    directory: Directory

    @cached_property
    def name(self) -> str:
        return str(self.directory.path.toUri().getHost())

    @cached_property
    def prefix(self) -> str:
        """What the keys of the objects in the directory begin with."""
        path = str(self.directory.path.toUri().getPath()).strip("/")
        if not path:
            return ""
        return f"{path}/"

    def setting(self, name: str) -> str | None:
        """Return the value of `fs.s3a.<name>` that is in force; None if it is not set."""
        return setting(self.directory.conf, self.name, name)

    def own(self, name: str) -> str | None:
        """Return the value of our own property `clusterlift.s3a.<name>`, for this bucket or for all."""
        return setting(self.directory.conf, self.name, name, S3A_OWN)

    def client(self) -> dict[str, str]:
        """Return the versions of S3A and of its SDK, and what is recorded of the settings in force."""
        directory = self.directory
        jvm = directory.jvm
        in_force = {}
        chosen = set()
        with directory.errors_as_bad_input():
            utils = jvm.org.apache.hadoop.fs.s3a.S3AUtils
            conf = utils.propagateBucketOptions(directory.conf, self.name)
            for short in conf.getPropsWithPrefix(S3A):
                if "bucket." in str(short):
                    continue
                name = f"{S3A}{short}"
                in_force[name] = str(conf.get(name))
                if DEFAULTS not in list(conf.getPropertySources(name) or ()):
                    chosen.add(name)
            source = directory.fs.getClass().getProtectionDomain().getCodeSource()
            # The Ivy of Spark puts the name of the group before the name of the jar.
            jar = str(source.getLocation().getPath()).rpartition("hadoop-aws-")[2]
            version = jar.rpartition(".jar")[0]
            sdk = str(jvm.software.amazon.awssdk.core.util.VersionInfo.SDK_VERSION)
        return {"hadoop-aws": version, "AWS SDK": sdk, **recorded_s3a(in_force, chosen)}

    @cached_property
    def storage_class(self) -> str:
        """The storage class that new objects get."""
        return (self.setting("create.storage.class") or STANDARD).upper()

    def ask(self, path: str, query: dict[str, str], body: bytes | None = None) -> bytes:
        """Return what the server answers to a signed GET or, with a body, POST request."""
        at = endpoint(self.directory.conf, self.name)
        if at is None:
            raise BadInput(
                f"{self.directory.uri}: {S3A_STORE} is set, but fs.s3a.endpoint is not: name the server"
            )
        region = self.setting("endpoint.region") or "us-east-1"
        method = "GET" if body is None else "POST"
        request = Request(at, path, query, method, body or b"")
        try:
            return ask(request, self._credentials, region=region)
        except OSError as error:
            raise BadInput(f"{self.directory.uri}: {at}{path}: {error}") from error

    @cached_property
    def _credentials(self) -> Credentials:
        """What S3A itself uses, whatever provider it has them from."""
        with self.directory.errors_as_bad_input():
            shared = self.directory.fs.getS3AInternals().shareCredentials("clusterlift")
            found = shared.resolveCredentials()
            token = None
            if "Session" in str(found.getClass().getSimpleName()):
                token = str(found.sessionToken())
            return Credentials(str(found.accessKeyId()), str(found.secretAccessKey()), token)

    def objects(self, names: Collection[str], **parameters: str) -> list[StoredObject]:
        """Return those objects of the directory that have one of these names.

        `parameters` are added to the request.
        """
        return [found for found in self._listed(parameters) if found.name in names]

    def _listed(self, parameters: dict[str, str]) -> Iterator[StoredObject]:
        query = {"list-type": "2", "prefix": self.prefix, "delimiter": "/", **parameters}
        while True:
            answer = self.ask(f"/{self.name}", query)
            try:
                page = ET.fromstring(_NAMESPACE.sub(b"", answer))  # noqa: S314  bounded, by expat
                for element in page.findall("Contents"):
                    yield StoredObject.of(element, self.prefix)
            except (ET.ParseError, ValueError) as error:
                raise BadInput(
                    f"{self.directory.uri}: the list of the bucket cannot be read: {error}"
                ) from error
            token = page.findtext("NextContinuationToken")
            if page.findtext("IsTruncated") != "true" or not token:
                return
            query["continuation-token"] = token


def host_and_port(url: str) -> tuple[str, int] | None:
    """Return host and port of a URL; None if it has no host. Raise ValueError if the port is none."""
    parts = urlsplit(url)
    if parts.hostname is None:
        return None
    port = 443 if parts.scheme == "https" else 80
    return parts.hostname, parts.port or port


def _text(element: ET.Element, name: str) -> str:
    text = element.findtext(name)
    if text is None:
        raise ValueError(f"an object without {name}")
    return text
