"""The manifests of docker/kubernetes/ are what Kubernetes accepts, by the schemas of its API server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.hosts.transports.kubernetes import LABEL
from tests.tracked import ROOT

DIRECTORY = ROOT / "docker/kubernetes"
PAGE = (ROOT / "docs/kubernetes.md").read_text()
SCHEMAS = json.loads((ROOT / "tests/captured/kubernetes/schemas-1.34.json").read_text())
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
}
FILES = sorted(path.name for path in DIRECTORY.glob("*.yaml"))
PLACEHOLDER = "example.com/clusterlift:1"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DIRECTORY / name).read_text()))


def one(name: str, kind: str) -> Any:
    [found] = [each for each in documents(name) if each["kind"] == kind]
    return found


def problems(value: Any, schema: dict[str, Any], where: str) -> Iterator[str]:
    """Yield what differs from a schema. A field that the schema does not know is a problem."""
    for part in schema.get("allOf", []):
        yield from problems(value, part, where)
    if "$ref" in schema:
        yield from problems(value, SCHEMAS[schema["$ref"].rpartition("/")[2]], where)
        return
    forms = schema.get("oneOf")
    if forms:  # as an amount, which is a number or a text
        if all(list(problems(value, form, where)) for form in forms):
            yield f"{where}: {value!r} has none of the forms {forms}"
        return
    wanted = schema.get("type")
    if wanted and not (
        isinstance(value, TYPES[wanted]) and isinstance(value, bool) is (wanted == "boolean")
    ):
        yield f"{where}: {value!r} is not of the type {wanted}"
    elif wanted == "array":
        for number, item in enumerate(value):
            yield from problems(item, schema["items"], f"{where}[{number}]")
    elif wanted == "object":
        yield from problems_of_object(value, schema, where)


def problems_of_object(value: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for key in schema.get("required", []):
        if key not in value:
            yield f"{where}: {key} is missing"
    for key, item in value.items():
        form = known.get(key, others)
        if form is None:
            yield f"{where}: there is no {key}"
        else:
            yield from problems(item, form, f"{where}.{key}")


def schema_of(document: dict[str, Any]) -> dict[str, Any]:
    [found] = [
        name
        for name in SCHEMAS
        if name.endswith(f".{document['apiVersion'].rpartition('/')[2]}.{document['kind']}")
    ]
    return {"$ref": f"#/{found}"}


@pytest.mark.parametrize("name", FILES)
def test_every_object_has_the_fields_that_kubernetes_knows(name: str) -> None:
    for document in documents(name):
        assert not list(problems(document, schema_of(document), document["kind"]))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{spec: {hostNetwrk: true}}", "Pod.spec: there is no hostNetwrk"),
        ("{spec: {hostNetwork: 1}}", "Pod.spec.hostNetwork: 1 is not of the type boolean"),
        ("{spec: {containers: {}}}", "Pod.spec.containers: {} is not of the type array"),
        ("{spec: {containers: [{}]}}", "Pod.spec.containers[0]: name is missing"),
        ("{spec: {}}", "Pod.spec: containers is missing"),
    ],
)
def test_a_field_that_is_wrong_is_found(text: str, problem: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", **yaml.safe_load(text)}
    assert problem in list(problems(pod, schema_of(pod), "Pod"))


@pytest.mark.parametrize("name", FILES)
def test_no_object_belongs_to_a_namespace(name: str) -> None:
    assert not any("namespace" in document.get("metadata", {}) for document in documents(name))


def test_probes_find_the_pods_of_nodes_by_their_label() -> None:
    template = one("nodes.yaml", "DaemonSet")["spec"]["template"]
    assert dict([LABEL.split("=")]) == template["metadata"]["labels"]


def test_the_pods_of_nodes_have_no_privilege_unless_one_word_is_changed() -> None:
    text = (DIRECTORY / "nodes.yaml").read_text()
    command = re.findall(r"sed 's/(.*?)/(.*?)/'", PAGE)[0]
    changed = yaml.safe_load(text.replace(*command))
    [container] = changed["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["privileged"] is True
    assert (
        yaml.safe_load(text)["spec"]["template"]["spec"]["containers"][0]["securityContext"][
            "privileged"
        ]
        is False
    )


def test_the_first_process_of_a_node_sees_the_processes_of_its_container_alone() -> None:
    pod = one("nodes.yaml", "DaemonSet")["spec"]["template"]["spec"]
    assert not {"hostPID", "shareProcessNamespace"} & pod.keys()


def test_the_page_names_the_image_that_has_to_be_replaced() -> None:
    assert PLACEHOLDER in PAGE
    images = [one("driver.yaml", "Pod")["spec"]["containers"][0]["image"], spark_defaults()[IMAGE]]
    images.append(
        one("nodes.yaml", "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["image"]
    )
    assert set(images) == {PLACEHOLDER}


IMAGE = "spark.kubernetes.container.image"


def spark_defaults() -> dict[str, str]:
    text = one("driver.yaml", "ConfigMap")["data"]["spark-defaults.conf"]
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def test_sparks_properties_are_those_of_the_pod_around_them() -> None:
    properties = spark_defaults()
    [container] = one("driver.yaml", "Pod")["spec"]["containers"]
    variables = {each["name"] for each in container["env"]}
    named = set(re.findall(r"\$\{env:(\w+)}", " ".join(properties.values())))
    assert named == {"NAMESPACE", "POD_NAME", "CLUSTERLIFT_POD_ADDRESS"}
    assert named < variables
    ports = {each["name"]: each["port"] for each in one("driver.yaml", "Service")["spec"]["ports"]}
    assert ports["driver"] == int(properties["spark.driver.port"])
    assert ports["blocks"] == int(properties["spark.driver.blockManager.port"])
    template = Path(properties["spark.kubernetes.executor.podTemplateFile"]).name
    assert (DIRECTORY / template).exists()


@pytest.mark.parametrize("name", re.findall(r"docker/kubernetes/[\w.]+\w", PAGE))
def test_the_page_names_files_that_are_there(name: str) -> None:
    assert (ROOT / name).exists()
