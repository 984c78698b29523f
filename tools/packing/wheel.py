"""The wheel of a target, for pip, pipx and uv: the program, its manual pages and completions, and no Python."""

import base64
import csv
import hashlib
import io
import time
import zipfile

from packing.contents import File
from packing.project import LICENCE, PACKAGES, PROGRAM, PYPI, SUMMARY, commit_time, version

MODULE = PYPI.replace("-", "_")


def metadata(contents):
    readme = contents.documents["README.md"].decode()
    return (
        "Metadata-Version: 2.4\n"
        f"Name: {PYPI}\n"
        f"Version: {version()}\n"
        f"Summary: {SUMMARY}.\n"
        f"License-Expression: {LICENCE}\n"
        "License-File: LICENSE-MIT\n"
        "License-File: LICENSE-APACHE\n"
        "Requires-Python: >=3.8\n"
        "Classifier: Environment :: Console\n"
        "Classifier: Topic :: Software Development :: Quality Assurance\n"
        "Description-Content-Type: text/markdown\n"
        f"\n{readme}"
    )


def files(target, contents):
    data, about = f"{MODULE}-{version()}.data", f"{MODULE}-{version()}.dist-info"
    yield File(f"{data}/scripts/{PROGRAM}", target.program.read_bytes(), 0o755)
    for file in contents.shared():
        yield File(f"{data}/data/share/{file.path}", file.content)
    yield File(f"{about}/METADATA", metadata(contents).encode())
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in target.wheel.split("."))
    yield File(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: remand\nRoot-Is-Purelib: false\n{tags}".encode())
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        yield File(f"{about}/licenses/{name}", contents.documents[name])


def record(packed, path):
    """The list of all files with their hashes, which has no hash itself."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for file in packed:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.content).digest()).rstrip(b"=").decode()
        rows.writerow([file.path, f"sha256={digest}", len(file.content)])
    rows.writerow([path, "", ""])
    return File(path, text.getvalue().encode())


def write(target, contents):
    packed = list(files(target, contents))
    packed.append(record(packed, f"{MODULE}-{version()}.dist-info/RECORD"))
    path = PACKAGES / f"{MODULE}-{version()}-py3-none-{target.wheel}.whl"
    when = time.gmtime(commit_time())[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in packed:
            entry = zipfile.ZipInfo(file.path, when)
            entry.external_attr, entry.compress_type = (0o100000 | file.mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, file.content)
    return [path]
