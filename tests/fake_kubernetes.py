"""An API server of Kubernetes whose pods never run: it answers Spark as the real one does."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Object = dict[str, Any]


@dataclass
class Cluster:
    """What the server has: pods by their names, the status of a new one, or why none can be made."""

    status: Mapping[str, Any]
    refusal: str
    pods: dict[str, Object] = field(default_factory=dict)
    ending: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    """Answers for the cluster that a subclass has."""

    protocol_version = "HTTP/1.1"
    cluster: Cluster

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        kind, _, name = url.path.partition("/namespaces/default/")[2].partition("/")
        if "watch=true" in url.query:
            self.watch()
        elif name:
            self.one(name)
        elif kind:
            items = list(self.cluster.pods.values()) if kind == "pods" else []
            metadata = {"resourceVersion": "1"}
            self.answer({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items})
        else:
            self.answer({"major": "1", "minor": "34"})

    def watch(self) -> None:
        """Tell nothing new until the end. A client that asks for a web socket asks without one then."""
        if self.headers.get("Upgrade"):
            self.answer({})
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.cluster.ending.wait()
        self.close_connection = True

    def do_POST(self) -> None:
        given = self.given()
        is_pod = given["kind"] == "Pod"
        if self.cluster.refusal and is_pod:
            self.refuse(403, "Forbidden", self.cluster.refusal)
            return
        given["metadata"].setdefault("namespace", "default")
        if is_pod:
            given["status"] = dict(self.cluster.status)
            self.cluster.pods[given["metadata"]["name"]] = given
        self.answer(given, 201)

    def do_DELETE(self) -> None:
        self.given()
        self.cluster.pods.pop(urlsplit(self.path).path.rpartition("/")[2], None)
        self.answer({"kind": "Status", "status": "Success"})

    def do_PATCH(self) -> None:
        self.given()
        self.one(urlsplit(self.path).path.rpartition("/")[2])

    do_PUT = do_PATCH  # noqa: N815  names of the base

    def one(self, name: str) -> None:
        if name in self.cluster.pods:
            self.answer(self.cluster.pods[name])
        else:
            self.refuse(404, "NotFound", f'"{name}" not found')

    def given(self) -> Object:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        found: Object = json.loads(body or "{}")
        return found

    def refuse(self, code: int, reason: str, message: str) -> None:
        said = {"status": "Failure", "reason": reason, "message": message, "code": code}
        self.answer({"kind": "Status", "apiVersion": "v1", **said}, code)

    def answer(self, document: Object, code: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        pass


@contextmanager
def fake_kubernetes(status: Mapping[str, Any], refusal: str = "") -> Iterator[str]:
    """Provide the server's URL. Pods that are made have this status, or none is made, with this reason."""
    cluster = Cluster(status, refusal)
    handler = type("ClusterHandler", (Handler,), {"cluster": cluster})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        web.daemon_threads = True
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        cluster.ending.set()
        web.shutdown()
