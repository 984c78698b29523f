"""The files that packages bring: the program, its manual pages, completions and documents."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from packing.project import DOCUMENTS, PROGRAM, ROOT, SHELLS, Refused, built, output


@dataclass(frozen=True)
class File:
    path: str
    content: bytes
    mode: int = 0o644


class Contents:
    """Made by a program that runs on this machine; manual pages and completions are the same for every target."""

    def __init__(self):
        here = [target for target in built() if target.runs_here()]
        if not here:
            raise Refused("no program that this machine can run has been built: its manual pages are part of every package")
        program = here[0].program
        self.completions = {shell: output(program, "completions", shell).encode() for shell in SHELLS}
        with tempfile.TemporaryDirectory() as folder:
            output(program, "man", folder)
            self.manual = {page.name: page.read_bytes() for page in sorted(Path(folder).iterdir())}
        self.documents = {name: (ROOT / name).read_bytes() for name in DOCUMENTS}

    def archive(self, target):
        """The files of the archive, below one folder."""
        yield File(PROGRAM, target.program.read_bytes(), 0o755)
        for name, text in self.documents.items():
            yield File(name, text)
        for name, text in self.manual.items():
            yield File(f"man/man1/{name}", text)
        yield File("completions/remand.bash", self.completions["bash"])
        yield File("completions/_remand", self.completions["zsh"])
        yield File("completions/remand.fish", self.completions["fish"])

    def shared(self):
        """Manual pages and completions, where programs look for them below `share` of a prefix."""
        for name, text in self.manual.items():
            yield File(f"man/man1/{name}", text)
        yield File("bash-completion/completions/remand", self.completions["bash"])
        yield File("zsh/site-functions/_remand", self.completions["zsh"])
        yield File("fish/vendor_completions.d/remand.fish", self.completions["fish"])
