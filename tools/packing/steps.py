"""Runs the shell steps of the release workflow on this machine, as GitHub would after a tag; nothing is published.

In the jobs that publish, `gh` and `npm` are programs that record how they were called. Jobs for other machines, and actions, are
listed and left out.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from packing.project import PACKAGES, ROOT, TARGET, Refused, output, run, version

WORKFLOW = ROOT / ".github/workflows/release.yml"
# The others build and try the packages, with the real programs.
PUBLISHES = ("release", "npm", "pypi")

RECORDER = """#!/bin/sh
{ printf '%s' "${0##*/}"; printf ' %s' "$@"; echo; } >>"$REMAND_RECORDED"
"""

SUDO = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""


def workflow():
    """The workflow as data."""
    venv = TARGET / "package-yaml"
    if not (venv / "bin/python").exists():
        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin/pip", "install", "--quiet", "pyyaml")
    script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1])), default=str))"
    return json.loads(output(venv / "bin/python", "-c", script, WORKFLOW))


def program(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def play():
    parsed, tag = workflow(), f"v{version()}"
    with tempfile.TemporaryDirectory(prefix="remand-release-") as name:
        folder = Path(name)
        recorded = folder / "recorded"
        recorded.touch()
        for command in ("gh", "npm"):
            program(folder / "publishing", command, RECORDER)
        program(folder / "root", "sudo", SUDO)
        search = os.environ["PATH"] if shutil.which("sudo") else f"{folder / 'root'}{os.pathsep}{os.environ['PATH']}"
        values = {key: str(value) for key, value in parsed["env"].items()}
        values |= {"GITHUB_REF_NAME": tag, "GITHUB_REF_TYPE": "tag", "REMAND_RECORDED": str(recorded), "RUNNER_TEMP": name}
        for job, content in parsed["jobs"].items():
            path = f"{folder / 'publishing'}{os.pathsep}{search}" if job in PUBLISHES else search
            play_job(job, content, os.environ | values | {"PATH": path}, folder)
        calls = recorded.read_text()
    expected = (
        f"gh release create {tag} --verify-tag",
        "/SHA256SUMS",
        f"npm publish --access public ./packages/remand-linux-x64-{version()}.tgz",
        f"npm publish --access public ./packages/remand-{version()}.tgz",
    )
    missing = [text for text in expected if text not in calls]
    if missing:
        raise Refused(f"the workflow did not call {missing}; it called:\n{calls}")
    print(f"the workflow would have called:\n{calls}", end="")


def play_job(name, job, environment, folder):
    if "matrix" in job.get("strategy", {}):
        print(f"-- {name}: left out, it needs other machines")
        return
    # A job without a checkout gets the packages in a folder of its own.
    place = ROOT
    if not any("checkout" in step.get("uses", "") for step in job["steps"]):
        place = folder / name
        shutil.copytree(PACKAGES, place / "packages")
    for step in job["steps"]:
        title = step.get("name") or step["uses"]
        if "run" not in step:
            print(f"-- {name}: {title}: left out, an action")
            continue
        print(f"-- {name}: {title}", flush=True)
        script = folder / "step.sh"
        script.write_text(step["run"])
        # A value that GitHub would fill in is not known here.
        values = {key: str(value) for key, value in step.get("env", {}).items() if "${{" not in str(value)}
        run("bash", "--noprofile", "--norc", "-eo", "pipefail", script, cwd=place, env=environment | values)
