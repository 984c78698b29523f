"""Builds the program for each target, from any Linux machine, with the C compiler and linker of Zig."""

import os
import subprocess
import sys
import time

from packing.project import PROGRAM, ROOT, TARGET, TARGETS, Refused, output, run

COMPILERS = TARGET / "package-tools"
# The C compiler, linker and C libraries of all targets, as wheels of PyPI.
WHEELS = ("ziglang==0.17.0", "cargo-zigbuild==0.24.0")


def compilers():
    """The folder of the compilers' programs; installs them if they are missing."""
    wanted = "\n".join(WHEELS)
    stamp = COMPILERS / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        run(sys.executable, "-m", "venv", "--clear", COMPILERS)
        run(COMPILERS / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *WHEELS)
        stamp.write_text(wanted)
    return COMPILERS / "bin"


def add_target(triple):
    installed = output("rustc", "--print", "sysroot", cwd=ROOT).strip()
    if os.path.isdir(f"{installed}/lib/rustlib/{triple}/lib"):
        return
    try:
        run("rustup", "target", "add", triple, cwd=ROOT)
    except FileNotFoundError:
        raise Refused(f"the standard library for {triple} is missing: install it, or install rustup") from None


def environment(bin_folder):
    """No path of this machine gets into a program, so the same commit gives the same program elsewhere."""
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    remapped = {str(TARGET): "/target", home: "/cargo"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in remapped.items()]
    c_flags = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in remapped.items())
    return os.environ | {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        "CFLAGS": c_flags,
        "CXXFLAGS": c_flags,
        # Without it, Zig would keep its cache in the home.
        "ZIG_GLOBAL_CACHE_DIR": str(COMPILERS / "zig-cache"),
        "ZIG_LOCAL_CACHE_DIR": str(COMPILERS / "zig-cache"),
    }


def build(triples):
    """Builds each target; returns the lines that say how long it took and how large the program is."""
    surroundings = environment(compilers())
    for triple in triples:
        add_target(triple)
        started = time.monotonic()
        run(
            "cargo", "zigbuild", "--locked", "--package", PROGRAM, "--profile", "dist", "--target", triple,
            cwd=ROOT, env=surroundings,
        )  # fmt: skip
        program = TARGETS[triple].program
        check_linking(triple, program)
        size = program.stat().st_size / 1e6
        print(f"built {triple} in {time.monotonic() - started:.0f} s: {size:.1f} MB", flush=True)


def check_linking(triple, program):
    """A program for Linux must not need a library of the machine that runs it."""
    if not triple.endswith("linux-musl"):
        return
    described = subprocess.run(["readelf", "--dynamic", "--program-headers", program], capture_output=True, text=True)
    if described.returncode:
        raise Refused(f"readelf cannot read {program}:\n{described.stderr}")
    for line in described.stdout.splitlines():
        if "(NEEDED)" in line or "INTERP" in line:
            raise Refused(f"{program} is not static: {line.strip()}")
