"""Runs clang-tidy over the checkout's C++ files for scripts/tidy, within a time limit.

A file's pass is remembered outside the tree, keyed by its text, its compile command and
.clang-tidy. What it includes is no part of the key: a header is looked at by itself
(build/tidy/header_check).
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
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
PASSED = CACHE / "tocsin" / "tidy"


def git(*arguments):
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    return run.stdout.split("\n")


def files_latest_first(base):
    """C++ files relative to the checkout: uncommitted changes first, then by their last commit."""
    patterns = ["--", "*.cc", "*.h"]
    untracked = set(git("ls-files", "--others", "--exclude-standard", *patterns))
    present = set(git("ls-files", *patterns)) | untracked
    if base:
        present &= set(git("diff", "--name-only", base, *patterns)) | untracked
    status = git("status", "--porcelain", "--untracked-files=all", *patterns)
    uncommitted = [line[3:] for line in status]
    by_commit = git("log", "--format=", "--name-only", *patterns)
    return [path for path in dict.fromkeys(uncommitted + by_commit) if path in present and path]


def unit_of(path):
    """What shows a file to clang-tidy: itself, or for a header the file that includes it alone."""
    if path.endswith(".cc"):
        return ROOT / path
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", path.removeprefix("src/"))
    return BUILD / "header_check" / f"{identifier}.cc"


def key_of(path, command):
    digest = hashlib.sha256()
    command_anywhere = command.replace(str(ROOT), "").encode()
    checks = (ROOT / ".clang-tidy").read_bytes()
    for part in ((ROOT / path).read_bytes(), checks, command_anywhere):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def check(path, unit):
    """clang-tidy's complaints about one file; empty when it has none."""
    command = [CLANG_TIDY, "-p", str(BUILD), "--quiet", str(unit)]
    if path.endswith(".h"):
        command.append(f"--header-filter={re.escape(path)}$")
    run = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("base", nargs="?")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    database = json.loads((BUILD / "compile_commands.json").read_text())
    commands = {entry["file"]: entry["command"] for entry in database}
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
            verdict = "FAULTS" if complaints else "clean"
            print(f"[{checked}/{len(due)}] {path}: {verdict}", flush=True)
    for path in without_command:
        print(f"no target compiles {path}")
    left = len(due) - checked
    print(f"clang-tidy: {checked} files checked, {faults} with faults, {known} unchanged since they"
          f" passed, {left} left for want of time")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
