"""Runs clang-tidy over the checkout's C++ files for scripts/tidy, several at a time, within a time limit.

A file's pass is remembered outside the tree, keyed by its text, its compile command and .clang-tidy; what it
includes is not part of the key, so a header is looked at by itself (build/tidy/header_check).
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
CLANG_TIDY = "clang-tidy-14"
PASSED = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tocsin" / "tidy"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n")


def files_latest_first(base):
    """Paths relative to the checkout, C++ only: uncommitted changes first, then by their last commit."""
    patterns = ["--", "*.cc", "*.h"]
    present = set(git("ls-files", "--cached", "--others", "--exclude-standard", *patterns))
    if base:
        present &= set(git("diff", "--name-only", base, *patterns)) | set(git("ls-files", "--others", "--exclude-standard", *patterns))
    uncommitted = [line[3:] for line in git("status", "--porcelain", "--untracked-files=all", *patterns)]
    by_commit = git("log", "--format=", "--name-only", *patterns)
    return [path for path in dict.fromkeys(uncommitted + by_commit) if path in present and path]


def unit_of(path):
    """The translation unit that shows a file to clang-tidy: itself, or for a header the file that includes it alone."""
    if path.endswith(".cc"):
        return ROOT / path
    return BUILD / "header_check" / (re.sub(r"[^A-Za-z0-9_]", "_", path.removeprefix("src/")) + ".cc")


def key_of(path, command):
    digest = hashlib.sha256()
    for part in ((ROOT / path).read_bytes(), (ROOT / ".clang-tidy").read_bytes(), command.replace(str(ROOT), "").encode()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def check(path, unit):
    """clang-tidy's complaints about one file; empty when it has none."""
    command = [CLANG_TIDY, "-p", str(BUILD), "--quiet", str(unit)]
    if path.endswith(".h"):
        command.append(f"--header-filter={re.escape(path)}$")
    run = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("base", nargs="?")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    commands = {entry["file"]: entry["command"] for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    PASSED.mkdir(parents=True, exist_ok=True)

    due, known, without_command = [], 0, []
    for path in files_latest_first(options.base):
        unit = unit_of(path)
        command = commands.get(str(unit))
        if command is None:
            without_command.append(path)
        elif (PASSED / key_of(path, command)).exists():
            known += 1
        else:
            due.append((path, unit, PASSED / key_of(path, command)))

    faults, checked = 0, 0

    def run_one(item):
        return (item, check(item[0], item[1])) if time.monotonic() < deadline else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(run_one, due):
            if result is None:
                continue
            (path, _, passed), complaints = result
            checked += 1
            if complaints:
                faults += 1
                print(complaints)
            else:
                passed.touch()
            print(f"[{checked}/{len(due)}] {path}: {'FAULTS' if complaints else 'clean'}", flush=True)
    print(f"clang-tidy: {checked} files checked, {faults} with faults, {known} unchanged since they passed, "
          f"{len(due) - checked} left for want of time, {len(without_command)} that no target compiles"
          + "".join(f"\n  not compiled: {path}" for path in without_command))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
