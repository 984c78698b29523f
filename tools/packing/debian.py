"""The Debian package of a target, for `apt install ./FILE`."""

import gzip
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from packing.contents import File
from packing.project import LICENCE, PACKAGES, PROGRAM, SUMMARY, Refused, commit_time, run, version

DESCRIPTION = """\
 The engine runs the build and the tests itself, keeps the evidence, and every
 run ends. It drives Claude Code, Codex, opencode, Gemini CLI, Qwen Code and
 others, and judges changes without any agent."""


def files(target, contents):
    yield File(f"usr/bin/{PROGRAM}", target.program.read_bytes(), 0o755)
    for file in contents.shared():
        path, text = file.path, file.content
        if path.startswith("man/"):
            path, text = f"{path}.gz", gzip.compress(text, mtime=0)
        # Debian's zsh reads another folder than zsh of other systems.
        yield File(f"usr/share/{path.replace('zsh/site-functions', 'zsh/vendor-completions')}", text)
    documents = f"usr/share/doc/{PROGRAM}"
    yield File(f"{documents}/changelog.gz", gzip.compress(contents.documents["CHANGELOG.md"], mtime=0))
    yield File(f"{documents}/README.md", contents.documents["README.md"])
    yield File(f"{documents}/copyright", copyright_file(contents))


def copyright_file(contents):
    """The licences, as Debian's programs read them."""
    stanzas = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: Remand\n\n"
        f"Files: *\nCopyright: The Remand authors\nLicense: {LICENCE.replace('OR', 'or')}\n"
    ]
    for name, document in (("MIT", "LICENSE-MIT"), ("Apache-2.0", "LICENSE-APACHE")):
        lines = contents.documents[document].decode().splitlines()
        text = "\n".join(f" {line}" if line.strip() else " ." for line in lines)
        stanzas.append(f"License: {name}\n{text}\n")
    return "\n".join(stanzas).encode()


def control(target, installed_bytes):
    return (
        f"Package: {PROGRAM}\n"
        f"Version: {version()}\n"
        f"Architecture: {target.debian}\n"
        "Maintainer: The Remand authors\n"
        f"Installed-Size: {(installed_bytes + 1023) // 1024}\n"
        # Runs are git work trees. Hooks, checks and the demonstration are often Python, but not always.
        "Depends: git (>= 1:2.38)\n"
        "Recommends: python3\n"
        "Section: devel\n"
        "Priority: optional\n"
        f"Description: {SUMMARY[0].lower()}{SUMMARY[1:]}\n{DESCRIPTION}\n"
    ).encode()


def write(target, contents):
    if target.debian is None:
        return []
    if not shutil.which("dpkg-deb"):
        raise Refused("dpkg-deb is missing: install the package dpkg")
    packed = list(files(target, contents))
    sums = "".join(f"{hashlib.md5(file.content).hexdigest()}  {file.path}\n" for file in packed)
    packed += [
        File("DEBIAN/control", control(target, sum(len(file.content) for file in packed))),
        File("DEBIAN/md5sums", sums.encode()),
    ]
    path = PACKAGES / f"{PROGRAM}_{version()}_{target.debian}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        for file in packed:
            place = root / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
            place.chmod(file.mode)
        for place, _, _ in os.walk(root):
            os.chmod(place, 0o755)
        # It limits the times of all files to this one.
        run(
            "dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path,
            stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(commit_time())},
        )  # fmt: skip
    return [path]
