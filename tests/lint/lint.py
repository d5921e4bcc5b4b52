#!/usr/bin/env python3
"""The house rules of Tocsin as checks: one function a rule, one line a fault, exit code 1 for any.

Each rule is a ctest test (CMakeLists.txt asks --list); lint_test.py shows each of them a bad tree.
"""

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

import cpp_text
from source_tree import Problem, SourceTree

LINES_PER_FILE_MAX = 500
LINES_PER_FUNCTION_MAX = 70
COLUMNS_MAX = 100
OPENING_LINES_MAX = 3

RULES: Dict[str, Callable[[SourceTree], Iterator[Problem]]] = {}

# What a header of ours may include in angle brackets: the standard library, POSIX and Linux, and
# the compiler's intrinsics.
_STANDARD_HEADERS = set(
    """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath compare complex concepts condition_variable coroutine csetjmp
    csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque
    exception execution filesystem format forward_list fstream functional future initializer_list
    iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource
    mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf
    string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo
    unordered_map unordered_set utility valarray variant vector version
    arpa/inet.h cpuid.h dirent.h dlfcn.h endian.h errno.h fcntl.h immintrin.h netdb.h netinet/in.h
    poll.h pthread.h sched.h signal.h stdint.h stdlib.h string.h sys/epoll.h sys/eventfd.h
    sys/file.h sys/ioctl.h sys/mman.h sys/resource.h sys/socket.h sys/stat.h sys/types.h sys/uio.h
    sys/wait.h time.h unistd.h x86intrin.h
    """.split()
)


def rule(function: Callable[[SourceTree], Iterator[Problem]]):
    RULES[function.__name__] = function
    return function


def layers_of(tree: SourceTree) -> List[Tuple[int, str]]:
    if not tree.has("cmake/layers.txt"):
        return []
    lines = tree.text_of("cmake/layers.txt").splitlines()
    matches = [re.fullmatch(r"(\d+) ([a-z]+)", line) for line in lines]
    return [(int(match.group(1)), match.group(2)) for match in matches if match]


def cpp_files(tree: SourceTree, under: str = "") -> List[str]:
    return tree.select(".h", ".cc", ".inc", ".cu", ".cuh", under=under)


def is_test_code(path: str) -> bool:
    return path.endswith(("_test.cc", "_bench.cc", "_fuzz.cc"))


@rule
def includes_obey_the_layers(tree: SourceTree) -> Iterator[Problem]:
    layers = {module: layer for layer, module in layers_of(tree)}
    for path in cpp_files(tree, under="src/"):
        module = path.split("/")[1]
        for line, name in cpp_text.includes(tree.text_of(path)):
            if name[0] != '"':
                continue
            target, slash, _ = name[1:-1].partition("/")
            if target == module or (target == "support" and is_test_code(path)):
                continue
            if target not in layers:
                # A file of no module is made by the build, and belongs to the module that names it.
                if slash:
                    yield Problem(path, line, f"{name} is in no module of cmake/layers.txt")
            elif module in layers and layers[target] >= layers[module]:
                yield Problem(
                    path, line,
                    f"'{module}' (layer {layers[module]}) may not include '{target}' "
                    f"(layer {layers[target]})")


@rule
def headers_keep_third_parties_out(tree: SourceTree) -> Iterator[Problem]:
    for path in tree.select(".h", under="src/"):  # a .cuh is for the CUDA plug-in's .cu files alone
        for line, name in cpp_text.includes(tree.text_of(path)):
            if name[0] == "<" and name[1:-1] not in _STANDARD_HEADERS:
                yield Problem(path, line, f"{name} is a third party's; include it in a .cc file")


@rule
def files_are_short(tree: SourceTree) -> Iterator[Problem]:
    for path in code_files(tree):
        count = len(tree.text_of(path).splitlines())
        if count > LINES_PER_FILE_MAX:
            yield Problem(path, count, f"{count} lines; at most {LINES_PER_FILE_MAX}")


@rule
def functions_are_short(tree: SourceTree) -> Iterator[Problem]:
    for path in cpp_files(tree):
        for line, count in cpp_text.functions(tree.text_of(path)):
            if count > LINES_PER_FUNCTION_MAX:
                yield Problem(path, line, f"a function of {count} lines; at most "
                                          f"{LINES_PER_FUNCTION_MAX}")
    for path in tree.select(".py"):
        for node in ast.walk(ast.parse(tree.text_of(path), path)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > LINES_PER_FUNCTION_MAX:
                yield Problem(path, node.lineno, f"a function of {count} lines; at most "
                                                 f"{LINES_PER_FUNCTION_MAX}")


@rule
def lines_are_short(tree: SourceTree) -> Iterator[Problem]:
    for path in code_files(tree):
        for number, line in enumerate(tree.text_of(path).splitlines(), 1):
            if len(line) > COLUMNS_MAX:
                yield Problem(path, number, f"{len(line)} columns; at most {COLUMNS_MAX}")


def code_files(tree: SourceTree) -> List[str]:
    return cpp_files(tree) + tree.select(".py", ".proto", ".ts")


@rule
def headers_are_guarded_by_pragma_once(tree: SourceTree) -> Iterator[Problem]:
    for path in tree.select(".h", ".cuh"):
        code = cpp_text.without_comments(tree.text_of(path))
        lines = [(n, line.strip()) for n, line in enumerate(code.splitlines(), 1) if line.strip()]
        if not lines or lines[0][1] != "#pragma once":
            yield Problem(path, lines[0][0] if lines else 1, "the first code is not #pragma once")


@rule
def files_open_with_a_comment(tree: SourceTree) -> Iterator[Problem]:
    """Headers of src must; where another file opens with one, it is short too."""
    for path in cpp_files(tree):
        lines = tree.text_of(path).splitlines()
        count = 0
        while count < len(lines) and lines[count].startswith("//"):
            count += 1
        if count == 0 and path.startswith("src/") and path.endswith((".h", ".cuh")):
            yield Problem(path, 1, "opens without a comment that says what it is")
        if count > OPENING_LINES_MAX:
            yield Problem(path, 1, f"opens with {count} lines of comment; at most "
                                   f"{OPENING_LINES_MAX}")


@rule
def nothing_is_left_to_do(tree: SourceTree) -> Iterator[Problem]:
    pattern = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
    for path in tree.paths:
        if path.startswith(("data/", "tests/fuzz/")) or b"\0" in tree.bytes_of(path):
            continue
        for number, line in enumerate(tree.text_of(path).splitlines(), 1):
            match = pattern.search(line)
            if match:
                yield Problem(path, number, f"{match.group(0)}: open an issue instead")


@rule
def time_comes_in_through_a_clock(tree: SourceTree) -> Iterator[Problem]:
    pattern = re.compile(
        r"\b(?:\w+_clock|[Cc]lock)\s*::\s*now\s*\("
        r"|\b(?:clock_gettime|gettimeofday|timespec_get|__rdtscp?|ftime)\s*\("
        r"|(?<![\w.>])(?:std\s*::\s*|::\s*)?time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)")
    for path in cpp_files(tree):
        if path == "src/base/clock.cc" or path.startswith("bench/") or path.endswith("_bench.cc"):
            continue
        code = cpp_text.without_comments(tree.text_of(path), keep_literals=False)
        for match in pattern.finditer(code):
            yield Problem(path, cpp_text.line_at(code, match.start()),
                          f"{match.group(0).strip()}… reads the system's time; take a Clock")


@rule
def no_path_of_a_machine_stands_in_a_file(tree: SourceTree) -> Iterator[Problem]:
    # After a letter, a dot or a dash the slash goes on with a relative path or an address; -I and
    # -L are options.
    pattern = re.compile(rb"(?:(?<=-I)|(?<=-L)|(?<![\w.\-~}]))/(?:work|root|home)/")
    for path in tree.paths:
        for number, line in enumerate(tree.bytes_of(path).split(b"\n"), 1):
            is_example = path.startswith("scripts/") and b"example" in line
            match = pattern.search(line)
            if match and not is_example:
                yield Problem(path, number, f"{match.group(0).decode()}… is a path of one machine")


@rule
def modules_are_documented(tree: SourceTree) -> Iterator[Problem]:
    layers = layers_of(tree)
    names = [module for _, module in layers]
    in_source = sorted({p.split("/")[1] for p in tree.paths if p.count("/") >= 2
                        and p.startswith("src/")})
    for module in in_source:
        if not tree.has(f"src/{module}/README.md"):
            yield Problem(f"src/{module}", 1, "has no README.md")
        if module not in names:
            yield Problem(f"src/{module}", 1, "has no line in cmake/layers.txt")
    table = "docs/architecture.md"
    if not tree.has(table):
        return
    rows = re.findall(r"^\| *(\d+) *\| *`([a-z]+)` *\|", tree.text_of(table), re.MULTILINE)
    documented = [(int(layer), module) for layer, module in rows]
    for layer, module in layers:
        if (layer, module) not in documented:
            yield Problem(table, 1, f"the layer table lacks '{layer} {module}'")
    for layer, module in documented:
        if (layer, module) not in layers:
            yield Problem(table, 1, f"'{layer} {module}' is not in cmake/layers.txt")
    if sorted(documented) == sorted(layers) and documented != layers:
        yield Problem(table, 1, "the layer table has another order than cmake/layers.txt")


def commands_of(tree: SourceTree, path: str) -> Tuple[List[Tuple[int, str]], List[Problem]]:
    """The command lines of a README's shell blocks, with their lines, and what is wrong there."""
    commands, problems = [], []
    language = None
    for number, line in enumerate(tree.text_of(path).splitlines(), 1):
        fence = re.match(r" *(?:```|~~~) *(\w*)", line)
        if fence:
            if language is None and not fence.group(1):
                problems.append(Problem(path, number, "a code block that names no language"))
            language = (fence.group(1) or "none") if language is None else None
        elif language in ("sh", "bash", "shell") or (
                language == "console" and line.lstrip().startswith("$ ")):
            command = re.sub(r"(?:^|\s+)#.*", "", line.strip().removeprefix("$ ")).strip()
            if command:
                commands.append((number, command))
    return commands, problems


@rule
def both_readmes_name_the_same_commands(tree: SourceTree) -> Iterator[Problem]:
    english, chinese = "README.md", "README.zh-CN.md"
    if not (tree.has(english) and tree.has(chinese)):
        return
    ours, our_problems = commands_of(tree, english)
    theirs, their_problems = commands_of(tree, chinese)
    yield from our_problems + their_problems
    for path, commands, other in ((english, ours, theirs), (chinese, theirs, ours)):
        known = {command for _, command in other}
        for number, command in commands:
            if command not in known:
                yield Problem(path, number, f"'{command}' is in one README only")
    if not ours:
        yield Problem(english, 1, "no shell block names a command")


@rule
def test_names_are_statements(tree: SourceTree) -> Iterator[Problem]:
    pattern = re.compile(
        r"\b(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
    for path in tree.select(".cc", ".cu"):
        code = cpp_text.without_comments(tree.text_of(path), keep_literals=False)
        for match in pattern.finditer(code):
            suite, case = match.groups()
            words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|\d+|[a-z]+", case)
            telling = [word for word in words if not word.isdigit() and word != "Test"]
            line = cpp_text.line_at(code, match.start())
            if "DISABLED_" in suite + case:
                yield Problem(path, line, f"{suite}.{case} is never run")
            elif len(telling) < 2:
                yield Problem(path, line, f"{suite}.{case} states no behaviour")


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(description="Checks the house rules.")
    parser.add_argument("--root", default=str(Path(__file__).resolve().parents[2]),
                        help="the checkout to look at (this one)")
    parser.add_argument("--list", action="store_true", help="print the names of the rules")
    parser.add_argument("rules", nargs="*", metavar="RULE", help="all rules if none is named")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(RULES))
        return 0
    unknown = [name for name in options.rules if name not in RULES]
    if unknown:
        parser.error(f"no rule '{unknown[0]}'; see --list")
    tree = SourceTree(options.root)
    if not tree.paths:
        parser.error(f"no files in {tree.root}")
    count = 0
    for name in options.rules or RULES:
        for problem in RULES[name](tree):
            print(f"{problem.path}:{problem.line}: {name}: {problem.text}")
            count += 1
    print(f"{count} faults in {len(tree.paths)} files", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
