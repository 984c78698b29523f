"""The archive of a target: `remand-VERSION-TARGET.tar.gz`, for people, for cargo-binstall and for other packagers."""

import gzip
import io
import tarfile

from packing.project import PACKAGES, commit_time


def tar_gz(files, folder):
    """A compressed archive that has the same bytes whenever and wherever it is made."""
    when, packed = commit_time(), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for file in files:
            entry = tarfile.TarInfo(f"{folder}/{file.path}")
            entry.size, entry.mode, entry.mtime = len(file.content), file.mode, when
            archive.addfile(entry, io.BytesIO(file.content))
    return gzip.compress(packed.getvalue(), mtime=when)


def write(target, contents):
    path = PACKAGES / f"{target.archive}.tar.gz"
    path.write_bytes(tar_gz(contents.archive(target), target.archive))
    return [path]
