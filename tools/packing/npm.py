"""The npm packages: one for each platform, and one that depends on them and starts the right program.

The platform packages are optional dependencies with `os` and `cpu`, so npm downloads only the one that fits. No package has an
install script, so they work with `--ignore-scripts`.
"""

import json

from packing.archive import tar_gz
from packing.contents import File
from packing.project import LICENCE, NPM, PACKAGES, PROGRAM, ROOT, SUMMARY, TARGETS, version

LAUNCHER = ROOT / "tools/packing/launcher.js"


def common():
    return {"version": version(), "description": f"{SUMMARY}.", "license": LICENCE}


def platform_manifest(target):
    return {
        "name": target.npm,
        **common(),
        "description": f"The program of the package {NPM} for {target.node_os}-{target.node_cpu}.",
        "os": [target.node_os],
        "cpu": [target.node_cpu],
        "files": ["bin"],
        # For `exports`-aware resolution of the program by the launcher.
        "exports": {f"./bin/{PROGRAM}": f"./bin/{PROGRAM}", "./package.json": "./package.json"},
    }


def main_manifest():
    """Names every platform, also those that are not built yet: they must be published before it."""
    return {
        "name": NPM,
        **common(),
        "keywords": ["agents", "workflow", "verification", "claude", "codex"],
        "bin": {PROGRAM: f"bin/{PROGRAM}.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {target.npm: version() for target in TARGETS.values()},
    }


def package(manifest, files):
    path = PACKAGES / f"{manifest['name']}-{version()}.tgz"
    text = json.dumps(manifest, indent=2) + "\n"
    path.write_bytes(tar_gz([File("package.json", text.encode()), *files], "package"))
    return path


def licences(contents):
    return [File(name, contents.documents[name]) for name in ("LICENSE-MIT", "LICENSE-APACHE")]


def write(target, contents):
    program = File(f"bin/{PROGRAM}", target.program.read_bytes(), 0o755)
    return [package(platform_manifest(target), [program, *licences(contents)])]


def write_main(contents):
    launcher = File(f"bin/{PROGRAM}.js", LAUNCHER.read_bytes(), 0o755)
    readme = File("README.md", contents.documents["README.md"])
    return [package(main_manifest(), [launcher, readme, *licences(contents)])]
