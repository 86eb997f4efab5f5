"""A stand-in for the API of Kubernetes: what Spark's backend asks of it, and pods as processes in namespaces.

    python -m tests.e2e.kubernetes_api DIRECTORY SPARK_HOME ADDRESS PORT LATE_S NODE=SUBNET ...

Each node is a network namespace with a bridge for its pods, such as `10.244.1`. A pod has namespaces of its
own for network, processes, mounts and host name, and no file system of its own. The pod of executor 2 starts
LATE_S seconds late, as if its image were pulled. DIRECTORY has the log of each pod, and its process id. While
it has a file `refusal`, no pod can be made, for the reason that stands there.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

KINDS = ("pods", "configmaps", "services", "persistentvolumeclaims", "events")
LATE = re.compile(r"-exec-2$")
BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
WATCH_S = 1.0
OBJECT = re.compile(r"/api/v1/namespaces/[^/]+/(?P<kind>[^/]+)(?:/(?P<name>[^/]+))?")
IN_NAMESPACES = """
echo "$0" >/proc/sys/kernel/hostname && mount --bind "$1" /etc/hosts && shift && exec "$@"
"""

Object = dict[str, Any]


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass
class Node:
    """A node: its network namespace, and the first three numbers of its pods' addresses."""

    namespace: str
    subnet: str
    numbers: Any = field(default_factory=lambda: count(10))

    def attach(self, pod: str) -> str:
        """Make the network namespace of a pod, with an eth0 on this node's bridge, and return its address."""
        address = f"{self.subnet}.{next(self.numbers)}"
        port = f"v{uuid.uuid4().hex[:8]}"
        run("ip", "netns", "add", pod)
        ends = ("peer", "name", "eth0", "netns", pod)
        run("ip", "-n", self.namespace, "link", "add", port, "type", "veth", *ends)
        run("ip", "-n", self.namespace, "link", "set", port, "master", "cni0", "up")
        run("ip", "-n", pod, "link", "set", "lo", "up")
        run("ip", "-n", pod, "address", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", pod, "link", "set", "eth0", "up")
        run("ip", "-n", pod, "route", "add", "default", "via", f"{self.subnet}.1")
        return address


@dataclass
class Store:
    """The objects of the API by kind and name, and every change of one, in its order."""

    objects: dict[str, dict[str, Object]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    changes: list[tuple[str, str, Object]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, kind: str, what: str, found: Object) -> None:
        """Store an object, or remove a DELETED one, and tell everybody who watches."""
        with self.changed:
            name = found["metadata"]["name"]
            found["metadata"]["resourceVersion"] = str(len(self.changes) + 1)
            if what == "DELETED":
                self.objects[kind].pop(name, None)
            else:
                self.objects[kind][name] = found
            self.changes.append((kind, what, json.loads(json.dumps(found))))
            self.changed.notify_all()


def is_selected(found: Object, selectors: str) -> bool:
    """Whether an object has the labels `a=b,c!=d,e in (f,g)`; Spark asks for no others."""
    labels: Mapping[str, str] = found["metadata"].get("labels") or {}
    for selector in re.split(r",(?![^(]*\))", selectors):
        listed = re.fullmatch(r"\s*(\S+) in \((.*)\)", selector)
        if listed:
            if labels.get(listed[1]) not in listed[2].split(","):
                return False
        elif "!=" in selector:
            name, value = selector.split("!=", 1)
            if labels.get(name) == value:
                return False
        elif "=" in selector:
            name, value = selector.split("=", 1)
            if labels.get(name) != value:
                return False
    return True


@dataclass
class Kubelets:
    """What runs pods on all nodes, in turns."""

    store: Store
    nodes: list[Node]
    directory: Path
    spark_home: Path
    late_s: float
    started: Any = field(default_factory=count)

    def run(self, pod: Object) -> None:
        """Run a pod until it ends."""
        name = pod["metadata"]["name"]
        node = self.nodes[next(self.started) % len(self.nodes)]
        if LATE.search(name):
            time.sleep(self.late_s)
        own = f"pod{uuid.uuid4().hex[:8]}"
        address = node.attach(own)
        try:
            self._run(pod, node, own, address)
        finally:
            run("ip", "netns", "delete", own)

    def _run(self, pod: Object, node: Node, own: str, address: str) -> None:
        name = pod["metadata"]["name"]
        [container] = pod["spec"]["containers"]
        variables = self._variables(pod, container, node, address)
        unshare = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts")
        host_name = name[-63:].lstrip("-")
        hosts = self.directory / f"{name}.hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{address} {host_name}\n")
        shell = ("sh", "-c", IN_NAMESPACES, host_name, str(hosts))
        with (self.directory / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", own, *unshare, *shell, *executor(variables)],
                env=variables,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        (self.directory / f"{name}.pid").write_text(str(process.pid))
        pod["spec"]["nodeName"] = node.namespace
        self._report(pod, address, "Running", {"running": {"startedAt": moment()}})
        code = process.wait()
        number = code if code >= 0 else 128 - code  # as a shell counts signals
        ended = {"exitCode": number, "reason": "Error" if code else "Completed"}
        state = {"terminated": {**ended, "startedAt": moment(), "finishedAt": moment()}}
        if name in self.store.objects["pods"]:
            self._report(pod, address, "Failed" if code else "Succeeded", state)

    def _variables(
        self, pod: Object, container: Object, node: Node, address: str
    ) -> dict[str, str]:
        local = self.directory / pod["metadata"]["name"]
        local.mkdir()
        fields = {
            "status.podIP": address,
            "metadata.name": pod["metadata"]["name"],
            "spec.nodeName": node.namespace,
        }
        found: dict[str, str] = {}
        for each in container.get("env") or []:
            field_ref = (each.get("valueFrom") or {}).get("fieldRef")
            value = fields[field_ref["fieldPath"]] if field_ref else each.get("value")
            found[each["name"]] = value or ""
        inherited = {"PATH": os.environ["PATH"], "SPARK_HOME": str(self.spark_home)}
        found.pop("SPARK_CONF_DIR", None)  # a volume
        return {**found, **inherited, "SPARK_LOCAL_DIRS": str(local)}

    def _report(self, pod: Object, address: str, phase: str, state: Object) -> None:
        [container] = pod["spec"]["containers"]
        status = {
            "name": container["name"],
            "ready": phase == "Running",
            "restartCount": 0,
            "image": container["image"],
            "imageID": "",
            "state": state,
        }
        pod["status"] = {"phase": phase, "podIP": address, "containerStatuses": [status]}
        self.store.put("pods", "MODIFIED", pod)

    def end(self, name: str) -> None:
        """End the process of a pod that was deleted."""
        file = self.directory / f"{name}.pid"
        if file.exists():
            subprocess.run(["kill", file.read_text()], capture_output=True, check=False)


def executor(variables: Mapping[str, str]) -> list[str]:
    """Return the command of Spark's own image for an executor."""
    options = [variables[name] for name in sorted(variables) if name.startswith("SPARK_JAVA_OPT_")]
    memory = variables["SPARK_EXECUTOR_MEMORY"]
    arguments = {
        "--driver-url": "SPARK_DRIVER_URL",
        "--executor-id": "SPARK_EXECUTOR_ID",
        "--cores": "SPARK_EXECUTOR_CORES",
        "--app-id": "SPARK_APPLICATION_ID",
        "--hostname": "SPARK_EXECUTOR_POD_IP",
        "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
        "--podName": "SPARK_EXECUTOR_POD_NAME",
    }
    command = ["java", *options, f"-Xms{memory}", f"-Xmx{memory}"]
    command += ["-cp", f"{variables['SPARK_HOME']}/jars/*", BACKEND]
    for option, variable in arguments.items():
        command += [option, variables[variable]]
    return command


class Handler(BaseHTTPRequestHandler):
    """Answers requests for objects of one namespace."""

    protocol_version = "HTTP/1.1"
    store: Store
    kubelets: Kubelets

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        print(format % arguments, flush=True)  # noqa: T201

    def do_GET(self) -> None:
        kind, name, query = self._asked()
        if self.path.startswith("/version"):
            self._answer({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})
        elif query.get("watch") == ["true"]:
            self._watch(kind, query)
        elif name:
            self._answer(self.store.objects[kind].get(name))
        else:
            version = {"resourceVersion": str(len(self.store.changes))}
            found = self._selected(kind, query)
            self._answer({"kind": "List", "apiVersion": "v1", "metadata": version, "items": found})

    def do_POST(self) -> None:
        kind, _, _ = self._asked()
        found = self._body()
        refusal = self.kubelets.directory / "refusal"
        if kind == "pods" and refusal.exists():
            self._refuse(refusal.read_text())
            return
        metadata = found["metadata"]
        metadata.setdefault("name", f"{metadata.get('generateName', 'x')}{uuid.uuid4().hex[:5]}")
        metadata.update(uid=str(uuid.uuid4()), creationTimestamp=moment())
        if kind == "pods":
            found["status"] = {"phase": "Pending"}
        self.store.put(kind, "ADDED", found)
        self._answer(found, 201)
        if kind == "pods":
            threading.Thread(target=self.kubelets.run, args=(found,), daemon=True).start()

    def do_DELETE(self) -> None:
        kind, name, query = self._asked()
        self._body()
        found = self._selected(kind, query)
        if name:
            found = [each for each in found if each["metadata"]["name"] == name]
        for each in found:
            self.store.put(kind, "DELETED", each)
            self.kubelets.end(each["metadata"]["name"])
        self._answer({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def do_PATCH(self) -> None:
        kind, name, _ = self._asked()
        change = self._body()
        found = self.store.objects[kind].get(name)
        if found and isinstance(change, dict):
            labels = (change.get("metadata") or {}).get("labels") or {}
            found["metadata"].setdefault("labels", {}).update(labels)
            self.store.put(kind, "MODIFIED", found)
        self._answer(found)

    do_PUT = do_PATCH  # noqa: N815  named by http.server

    def _asked(self) -> tuple[str, str, dict[str, list[str]]]:
        """Return the kind and the name that are asked for, and the query."""
        url = urlsplit(self.path)
        found = OBJECT.fullmatch(url.path)
        if not found or found["kind"] not in KINDS:
            return KINDS[-1], "none", {}
        return found["kind"], found["name"] or "", parse_qs(url.query)

    def _selected(self, kind: str, query: Mapping[str, list[str]]) -> list[Object]:
        [selectors] = query.get("labelSelector", [""])
        return [
            each for each in list(self.store.objects[kind].values()) if is_selected(each, selectors)
        ]

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def _answer(self, found: Object | None, code: int = 200) -> None:
        if found is None:
            code = 404
            found = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": code}
        body = json.dumps(found).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, reason: str) -> None:
        code = 403
        said = {"status": "Failure", "reason": "Forbidden", "message": reason, "code": code}
        self._answer({"kind": "Status", "apiVersion": "v1", **said}, code)

    def _watch(self, kind: str, query: Mapping[str, list[str]]) -> None:
        if self.headers.get("Upgrade"):  # to a web socket; the client then tries without
            self._answer({})
            return
        [since] = query.get("resourceVersion", ["0"])
        [selectors] = query.get("labelSelector", [""])
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        seen = int(since or 0)
        try:
            while True:
                with self.store.changed:
                    if seen >= len(self.store.changes):
                        self.store.changed.wait(WATCH_S)
                    new = self.store.changes[seen:]
                for changed, what, found in new:
                    seen += 1
                    if changed == kind and is_selected(found, selectors):
                        self._chunk(json.dumps({"type": what, "object": found}).encode() + b"\n")
        except OSError:  # the client has gone
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def main() -> None:
    directory, spark_home, address, port, late_s, *nodes = sys.argv[1:]
    store = Store()
    found = [Node(*each.split("=")) for each in nodes]
    Handler.store = store
    Handler.kubelets = Kubelets(store, found, Path(directory), Path(spark_home), float(late_s))
    server = ThreadingHTTPServer((address, int(port)), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
