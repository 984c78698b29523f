"""What lets others check the packages: checksums, the list of components, and the provenance."""

import hashlib
import json
import os
import tomllib
import uuid
from datetime import UTC, datetime

from packing.project import PACKAGES, PROGRAM, ROOT, commit_time, output, version

SUMS = "SHA256SUMS"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def when():
    return datetime.fromtimestamp(commit_time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def components(triple):
    """The crates of a program: the package with its id, and those that it depends on, build scripts included."""
    listed = output(
        "cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", triple, cwd=ROOT
    )  # fmt: skip
    metadata = json.loads(listed)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    first = next(id for id in metadata["workspace_members"] if packages[id]["name"] == PROGRAM)
    found, waiting = {}, [first]
    while waiting:
        at = waiting.pop()
        if at in found:
            continue
        edges = [
            edge["pkg"] for edge in nodes[at]["deps"] if any(kind["kind"] in (None, "build") for kind in edge["dep_kinds"])
        ]
        found[at] = (packages[at], edges)
        waiting += edges
    return first, found


def component(package):
    # Crates published before SPDX was asked for write a slash for OR.
    licence = (package["license"] or "").replace("/", " OR ")
    name, number = package["name"], package["version"]
    return {
        "type": "application" if name == PROGRAM else "library",
        "bom-ref": f"{name}@{number}",
        "name": name,
        "version": number,
        **({"description": package["description"]} if package["description"] else {}),
        **({"licenses": [{"expression": licence}]} if licence else {}),
        # Crates of the workspace are on no registry.
        **({"purl": f"pkg:cargo/{name}@{number}"} if package["source"] else {}),
        **({"hashes": [{"alg": "SHA-256", "content": package["checksum"]}]} if package.get("checksum") else {}),
    }


def checksums():
    """The checksum of each locked crate, by name and version."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    return {(entry["name"], entry["version"]): entry.get("checksum") for entry in locked}


def write_components(target):
    """The bill of materials of a target in CycloneDX's JSON."""
    first, found = components(target.triple)
    sums = checksums()
    ref = {id: f"{package['name']}@{package['version']}" for id, (package, _) in found.items()}
    described = {
        id: component(package | {"checksum": sums.get((package["name"], package["version"]))})
        for id, (package, _) in found.items()
    }
    name = f"{target.archive}.cdx.json"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{name} {commit_id()}')}",
        "version": 1,
        "metadata": {
            "timestamp": when(),
            "component": described[first],
            "properties": [{"name": "cargo:target", "value": target.triple}],
        },
        "components": sorted((entry for id, entry in described.items() if id != first), key=lambda it: it["bom-ref"]),
        "dependencies": sorted(
            ({"ref": ref[id], "dependsOn": sorted({ref[edge] for edge in edges})} for id, (_, edges) in found.items()),
            key=lambda it: it["ref"],
        ),
    }
    path = PACKAGES / name
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    return [path]


def commit_id():
    return output("git", "rev-parse", "HEAD", cwd=ROOT).strip()


def clean():
    """Whether the packages contain exactly a commit."""
    return not output("git", "status", "--porcelain", "--untracked-files=no", cwd=ROOT)


def write_provenance(packages, tools):
    """What the packages were made from, as an in-toto statement. It is not signed: the release workflow signs its own."""
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    on_github = server and repository
    commit = {"digest": {"gitCommit": commit_id()}}
    if on_github:
        commit["uri"] = f"git+{server}/{repository}"
    if not clean():
        commit["annotations"] = {"modified": True}
    lock = {"name": "Cargo.lock", "digest": {"sha256": digest(ROOT / "Cargo.lock")}}
    named = [{"name": name, "annotations": {"version": number}} for name, number in tools.items()]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": digest(path)}} for path in packages],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:remand:tools/package",
                "externalParameters": {"version": version(), "profile": "dist"},
                "resolvedDependencies": [commit, lock, *named],
            },
            "runDetails": {"builder": {"id": f"{server}/{repository}/actions" if on_github else "urn:remand:local"}},
        },
    }
    path = PACKAGES / f"{PROGRAM}-{version()}.provenance.json"
    path.write_text(json.dumps(statement, indent=1) + "\n", encoding="utf-8")
    return [path]


def write_checksums():
    """The file that `sha256sum --check` reads."""
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(PACKAGES.iterdir()) if path.name != SUMS]
    path = PACKAGES / SUMS
    path.write_text("".join(lines), encoding="utf-8")
    return [path]
