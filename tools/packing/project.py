"""What is packaged: the version, the targets, the names in each registry, the folders."""

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PACKAGES = TARGET / "packages"
TOOLS = Path(os.environ.get("REMAND_TEST_TOOLS", TARGET / "test-tools"))

PROGRAM = "remand"
SUMMARY = "Drives coding agents through a gated workflow and sends every defect back to the phase that caused it"
LICENCE = "MIT OR Apache-2.0"
# `remand` is taken on PyPI.
NPM, PYPI = "remand", "remand-cli"
SHELLS = ("bash", "zsh", "fish")
# What every package brings in addition to the program.
DOCUMENTS = ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")


class Refused(Exception):
    """A step cannot go on; the message says what to do."""


@dataclass(frozen=True)
class Target:
    """A platform by its names in Rust, Debian, Node and Python."""

    triple: str
    debian: str | None
    node_os: str
    node_cpu: str
    wheel: str

    @property
    def npm(self):
        return f"{NPM}-{self.node_os}-{self.node_cpu}"

    @property
    def archive(self):
        return f"{PROGRAM}-{version()}-{self.triple}"

    @property
    def program(self):
        return TARGET / self.triple / "dist" / PROGRAM

    def runs_here(self):
        machine = {"arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)
        return self.triple.startswith(machine) and (os.uname().sysname == "Darwin") == self.triple.endswith("darwin")


TARGETS = {
    target.triple: target
    for target in (
        Target(
            "x86_64-unknown-linux-musl", "amd64", "linux", "x64",
            "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        ),
        Target(
            "aarch64-unknown-linux-musl", "arm64", "linux", "arm64",
            "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        ),
        Target("aarch64-apple-darwin", None, "darwin", "arm64", "macosx_11_0_arm64"),
    )
}  # fmt: skip


def manifest(path="Cargo.toml", root=ROOT):
    return tomllib.loads((root / path).read_text(encoding="utf-8"))


def version(root=ROOT):
    return manifest(root=root)["workspace"]["package"]["version"]


def built():
    """The targets whose program has been built."""
    return [target for target in TARGETS.values() if target.program.exists()]


def output(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options
    )
    if done.returncode:
        words = " ".join(str(word) for word in command)
        raise Refused(f"`{words}` ended with exit status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def run(*command, **options):
    """A command that must succeed, with its output on ours."""
    words = [str(word) for word in command]
    sys.stdout.flush()
    done = subprocess.run(words, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise Refused(f"`{' '.join(words)}` ended with exit status {done.returncode}")


def commit_time():
    """The time of the commit that is packaged: every file in every package has it, so that packages can be compared."""
    return int(output("git", "log", "-1", "--format=%ct", cwd=ROOT))


def changes(root=ROOT):
    """The section of this version in the changelog."""
    heading, text = f"## {version(root)}", (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = [part for part in ("\n" + text).split("\n## ") if f"## {part}".startswith(heading)]
    if len(sections) != 1:
        raise Refused(f"CHANGELOG.md has {len(sections)} sections `{heading}`: it needs one")
    return sections[0].split("\n", 1)[1].strip() + "\n"
