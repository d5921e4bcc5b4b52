"""The files of a checkout: what git tracks or would track; without git, what lies in the folder."""

import functools
import os
import subprocess
from pathlib import Path
from typing import List, NamedTuple

_NOT_SOURCE = {".git", ".deps", ".venv", "build", "runs", "node_modules", "__pycache__"}


class Problem(NamedTuple):
    path: str
    line: int
    text: str


def _from_git(root: Path) -> List[str]:
    """Empty where `root` is not the top of a checkout, or git is not there."""
    git = ["git", "-c", "safe.directory=*", "-C", str(root)]
    try:
        top = subprocess.run(git + ["rev-parse", "--show-toplevel"], capture_output=True, text=True)
        if top.returncode != 0 or Path(top.stdout.strip()).resolve() != root:
            return []
        listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(git + listing, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in names.split("\0") if name]


def _from_folder(root: Path) -> List[str]:
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_SOURCE]
        names += [str((Path(folder) / name).relative_to(root)) for name in files]
    return names


class SourceTree:
    def __init__(self, root: str):
        self.root = Path(root).resolve()
        names = set(_from_git(self.root) or _from_folder(self.root))
        # A tracked file may be deleted in the working tree; a link's target is listed itself.
        self.paths = sorted(
            name for name in names
            if (self.root / name).is_file() and not (self.root / name).is_symlink()
        )

        self._known = frozenset(self.paths)

    def has(self, path: str) -> bool:
        return path in self._known

    @functools.lru_cache(maxsize=None)
    def bytes_of(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    @functools.lru_cache(maxsize=None)
    def text_of(self, path: str) -> str:
        return self.bytes_of(path).decode("utf-8", errors="replace")

    def select(self, *suffixes: str, under: str = "") -> List[str]:
        return [p for p in self.paths if p.startswith(under) and p.endswith(suffixes)]
