"""Installs each package as its users do, in a root or a home with nothing else in it, and plays the demonstration there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packing.project import NPM, PACKAGES, PROGRAM, PYPI, TARGET, TARGETS, Refused, output, run, version
from packing.records import SUMS, digest
from packing.registry import Registry

# What the summary of a run says when its commit is made and nothing was degraded.
GOOD_END = "committed, confidence high"


def here():
    """The target of this machine, whose packages can be installed."""
    fitting = [target for target in TARGETS.values() if target.runs_here()]
    if not fitting:
        raise Refused("no package is for this machine")
    return fitting[0]


def package(pattern):
    """The one package with such a name."""
    found = sorted(PACKAGES.glob(pattern))
    if len(found) != 1:
        raise Refused(f"{PACKAGES} has {len(found)} packages {pattern}: run `tools/package` first")
    return found[0]


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Refused(f"{program} is missing: install it")


def surroundings(home, *folders):
    """The environment of a user who has just signed in."""
    return {"HOME": str(home), "PATH": os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]), "LANG": "C.UTF-8"}


def play(what, command, environment):
    """Plays the demonstration, which must end well."""
    started = time.monotonic()
    done = subprocess.run(
        [str(word) for word in command], env=environment, stdin=subprocess.DEVNULL, text=True, timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    seconds = time.monotonic() - started
    if done.returncode or GOOD_END not in done.stdout:
        raise Refused(f"{what}: the demonstration ended with exit status {done.returncode}:\n{done.stdout}")
    print(f"{what}: the demonstration ended with a commit, after {seconds:.1f} s", flush=True)


def enter(root, *options):
    """The start of a command in another root: without network, in an empty home, and nothing of this machine visible."""
    return [
        "bwrap", "--bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/tmp/home",
        "--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--clearenv", *options,
        "--setenv", "HOME", "/tmp/home", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8",
        "--chdir", "/tmp/home",
    ]  # fmt: skip


def check_deb(folder):
    """`apt install ./FILE` in a minimal system of this machine's release, then the demonstration as root and as a user."""
    need("mmdebstrap", "bwrap")
    deb, root = package(f"{PROGRAM}_*_{here().debian}.deb"), folder / "root"
    release = output("sh", "-c", '. /etc/os-release && echo "$VERSION_CODENAME"').strip()
    started = time.monotonic()
    run(
        "mmdebstrap", "--quiet", "--variant=apt", f"--customize-hook=copy-in {deb} /tmp",
        f'--customize-hook=chroot "$1" apt-get -qq install --yes /tmp/{deb.name} >&2', release, root,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    print(f"deb: apt made a minimal {release} and installed {deb.name} in it, after {time.monotonic() - started:.0f} s")
    output("chroot", root, "dpkg", "--verify", PROGRAM)
    for path in ("usr/share/man/man1/remand.1.gz", "usr/share/bash-completion/completions/remand"):
        if not (root / path).exists():
            raise Refused(f"deb: {path} is not installed")
    play("deb, as root", [*enter(root), PROGRAM, "demo"], os.environ)
    play("deb, as a user", [*enter(root, "--unshare-user", "--uid", "1000", "--gid", "1000"), PROGRAM, "demo"], os.environ)
    output("chroot", root, "dpkg", "--remove", PROGRAM)
    left = [path for path in root.glob("usr/**/*remand*") if path.is_file()]
    if left:
        raise Refused(f"deb: removing the package leaves {left[0]}")


def check_archive(folder):
    """The program of the archive in a root that has git, Python and a shell, and none of the libraries of Rust programs."""
    need("bwrap", "busybox")
    archive, root = package(f"{here().archive}.tar.gz"), folder / "root"
    for name in ("bin", "tmp", "proc", "dev", "usr/bin"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    for name in set(output(root / "bin/busybox", "--list").split()) - {"busybox"}:
        (root / "bin" / name).symlink_to("busybox")
    for program in ("git", "python3"):
        copy_program(root, Path(shutil.which(program, path="/usr/bin:/bin") or f"/usr/bin/{program}"))
    run("tar", "-xzf", archive, "-C", folder)
    shutil.copy(folder / here().archive / PROGRAM, root / "usr/bin")
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"archive: a root of {size / 1e6:.0f} MB with git, Python, BusyBox and {PROGRAM}")
    play("archive", [*enter(root), PROGRAM, "demo"], os.environ)


def copy_program(root, program):
    """Copies a program with the libraries that it loads; for Python also its modules."""
    copies = [program]
    if program.name.startswith("python"):
        modules = output(program, "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])").strip()
        ignored = shutil.ignore_patterns("test", "__pycache__", "site-packages", "dist-packages", "config-*", "idlelib")
        shutil.copytree(modules, root / modules[1:], ignore=ignored, symlinks=True, dirs_exist_ok=True)
        copies += Path(modules).glob("lib-dynload/*.so")
    for copy in copies:
        if copy == program:
            place(root, copy)
        for line in output("ldd", copy).splitlines():
            library = next((word for word in line.split() if word.startswith("/")), None)
            if library:
                place(root, Path(library))


def place(root, file):
    goal = root / str(file)[1:]
    if not goal.exists():
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file.resolve(), goal)


def check_npm(folder):
    """First contact: `npx remand demo` from a registry on this machine, with nothing cached; and an installation from files."""
    need("node", "npm", "npx")
    target, home = here(), folder / "home"
    home.mkdir()
    files = [package(f"{NPM}-{version()}.tgz"), package(f"{target.npm}-{version()}.tgz")]
    tools = {Path(shutil.which(name)).parent for name in ("node", "npm", "npx")}
    with Registry(sorted(PACKAGES.glob("*.tgz"))) as registry:
        environment = surroundings(home, *tools) | {"npm_config_registry": registry.address}
        started = time.monotonic()
        play("npm, `npx remand demo`", ["npx", "--yes", PROGRAM, "demo"], environment)
        if time.monotonic() - started > 60:
            raise Refused("npm: first contact took more than a minute")
        prefix = folder / "prefix"
        run(
            "npm", "install", "--silent", "--global", "--ignore-scripts", "--prefix", prefix, *files, env=environment,
        )  # fmt: skip
    play("npm, installed from files", [prefix / "bin" / PROGRAM, "demo"], surroundings(home, *tools))
    status = subprocess.run([prefix / "bin" / PROGRAM, "no-such-command"], env=environment, capture_output=True).returncode
    if status != 2:
        raise Refused(f"npm: the launcher ended with exit status {status} where the program ends with 2")


def check_wheel(folder):
    """`pip install` without an index, in a new virtual environment."""
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/pip", "install", "--quiet", "--no-index", "--find-links", PACKAGES, PYPI)
    (folder / "home").mkdir()
    play("wheel", [folder / "venv/bin" / PROGRAM, "demo"], surroundings(folder / "home"))
    if not (folder / "venv/share/man/man1/remand.1").exists():
        raise Refused("wheel: the manual page is not installed")
    run(folder / "venv/bin/pip", "uninstall", "--quiet", "--yes", PYPI)
    left = [path for path in (folder / "venv").rglob("*remand*") if path.is_file()]
    if left:
        raise Refused(f"wheel: uninstalling leaves {left[0]}")


def check_other(folder):
    """Programs for the other processor, in its emulator: without processes of their own, which it cannot start."""
    for target in TARGETS.values():
        processor = target.triple.split("-")[0]
        archive = PACKAGES / f"{target.archive}.tar.gz"
        if target.runs_here() or not target.triple.endswith("linux-musl") or not archive.exists():
            continue
        need(f"qemu-{processor}-static")
        run("tar", "-xzf", archive, "-C", folder)
        emulated = [f"qemu-{processor}-static", folder / target.archive / PROGRAM]
        said = output(*emulated, "--version", env=surroundings(folder))
        if version() not in said:
            raise Refused(f"{target.triple}: the version is {said}")
        output(*emulated, "check", "feature", cwd=folder, env=surroundings(folder))
        output(*emulated, "simulate", "quick", "--defaults", "--runs", "200", cwd=folder, env=surroundings(folder))
        print(f"{target.triple}: answers --version, checks and simulates workflows in the emulator")


def check_records(folder):
    """The checksums fit, and the lists of components follow the schema of CycloneDX."""
    run("sha256sum", "--quiet", "--check", SUMS, cwd=PACKAGES)
    statement = json.loads(package("*.provenance.json").read_text())
    for subject in statement["subject"]:
        if digest(PACKAGES / subject["name"]) != subject["digest"]["sha256"]:
            raise Refused(f"the provenance names another {subject['name']}")
    venv = TARGET / "package-validator"
    if not (venv / "bin/python").exists() or subprocess.run([venv / "bin/python", "-c", "import cyclonedx"]).returncode:
        run(sys.executable, "-m", "venv", "--clear", venv)
        run(venv / "bin/pip", "install", "--quiet", "cyclonedx-python-lib[json-validation]==11.12.0")
    script = (
        "import sys; from cyclonedx.schema import SchemaVersion\n"
        "from cyclonedx.validation.json import JsonStrictValidator\n"
        "problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())\n"
        "sys.exit(problem and str(problem.data))"
    )
    for path in sorted(PACKAGES.glob("*.cdx.json")):
        done = subprocess.run([venv / "bin/python", "-c", script], input=path.read_text(), text=True, stderr=subprocess.PIPE)
        if done.returncode:
            raise Refused(f"{path.name} breaks the schema:\n{done.stderr}")
    print(f"records: the checksums, {len(statement['subject'])} subjects of the provenance, and the components are valid")


KINDS = {
    "records": check_records,
    "wheel": check_wheel,
    "npm": check_npm,
    "archive": check_archive,
    "deb": check_deb,
    "other": check_other,
}


def check(kinds):
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix=f"remand-{kind}-") as folder:
            KINDS[kind](Path(folder))
