"""Shows every rule a tree with one fault and sees it found, and good trees that must pass."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, NamedTuple

import cpp_text
import lint
from source_tree import SourceTree

HEADER = "// A thing.\n#pragma once\n"

TABLE = ("| layer | module | what |\n|---|---|---|\n| 0 | `base` | a |\n| 1 | `events` | b |\n"
         "| 1 | `config` | c |\n| 2 | `ingest` | d |\n")

# A small tree without a fault; each case below changes or adds files.
CLEAN = {
    "cmake/layers.txt": "# layer module\n0 base\n1 events\n1 config\n2 ingest\n",
    "docs/architecture.md": TABLE,
    "README.md": "# T\n```sh\nscripts/start  # runs it\n```\n```text\nout\n```\n",
    "README.zh-CN.md": "# T\n```console\n$ scripts/start\nout\n```\n",
    "src/base/README.md": "# base\n",
    "src/base/clock.h": HEADER + "#include <cstdint>\nclass Clock {};\n",
    "src/base/clock.cc": "#include <time.h>\nlong f() { return clock_gettime(0, nullptr); }\n",
    "src/events/README.md": "# events\n",
    "src/events/event.h": HEADER + '#include "base/clock.h"\n',
    "src/config/README.md": "# config\n",
    "src/config/reader_test.cc": '#include <gtest/gtest.h>\n#include "support/x.h"\n'
                                 "TEST(Reader, ReadsAFile) { f(); }\n",
    "src/ingest/README.md": "# ingest\n",
    "src/ingest/source.cc": '#include "ingest/source.h"\n#include "events/event.h"\n'
                            '#include "build_info.h"\n#include <zlib.h>\n',
    "src/ingest/source.h": HEADER,
    "scripts/start": "#!/bin/sh\n# example: scripts/start /ho" "me/you/data\n",
}


def lines(count: int, text: str = "int x;\n") -> str:
    return text * count


def body(count: int) -> str:
    """A brace pair with `count` lines, the braces' own included."""
    return "{\n" + lines(count - 2) + "}\n"


class Case(NamedTuple):
    rule: str
    files: Dict[str, str]
    faults: List[str]  # "path:line", in order


# Words that the linter forbids are cut in two, so that this file passes.
CASES = [
    Case("includes_obey_the_layers",
         {"src/events/event.h": HEADER + '#include "config/reader.h"\n'}, ["src/events/event.h:3"]),
    Case("includes_obey_the_layers",
         {"src/base/clock.cc": '// x\n#  include "ingest/source.h"\n'}, ["src/base/clock.cc:2"]),
    Case("includes_obey_the_layers",
         {"src/ingest/source.cc": '#include "nowhere/x.h"\n'}, ["src/ingest/source.cc:1"]),
    Case("includes_obey_the_layers",
         {"src/ingest/source.cc": '#include "support/x.h"\n'}, ["src/ingest/source.cc:1"]),
    Case("includes_obey_the_layers",
         {"src/events/deep/in.cc": '/*\n*/ #include "x"\n#include "ingest/a.h"\n'},
         ["src/events/deep/in.cc:3"]),
    Case("includes_obey_the_layers",
         {"src/base/clock.cc": '// #include "ingest/source.h"\n/* #include "ingest/a.h" */\n'}, []),
    Case("headers_keep_third_parties_out",
         {"src/ingest/source.h": HEADER + "#include <vector>\n#include <zlib.h>\n"},
         ["src/ingest/source.h:4"]),
    Case("headers_keep_third_parties_out",
         {"src/ingest/source.h": HEADER + "#include <spdlog/spdlog.h>\n"},
         ["src/ingest/source.h:3"]),
    Case("files_are_short", {"src/base/a.cc": lines(501)}, ["src/base/a.cc:501"]),
    Case("files_are_short", {"src/base/a.inc": lines(501)}, ["src/base/a.inc:501"]),
    Case("files_are_short", {"python/a.py": lines(501, "x = 1\n")}, ["python/a.py:501"]),
    Case("files_are_short", {"src/base/a.cc": lines(500), "docs/long.md": lines(900)}, []),
    Case("functions_are_short", {"src/base/a.cc": "int f() " + body(71)}, ["src/base/a.cc:1"]),
    Case("functions_are_short", {"src/base/a.cc": "int f() " + body(70)}, []),
    Case("functions_are_short",
         {"src/base/a.cc": "namespace t {\nclass A {\n public:\n  A(int x)\n      : x_{x} {}\n"
                           "  int f(int a,\n        int b) const " + body(70) + "};\n}\n"},
         ["src/base/a.cc:6"]),
    Case("functions_are_short",
         {"src/base/a.cc": 'TEST(A, HasNoEnd) {\n  const char* a = "}";\n  char b = \'}\';  // }\n'
                           '  auto c = R"x(\n}\n)x";\n  int d = 1\'000;\n' + lines(64) + "}\n"},
         ["src/base/a.cc:1"]),
    Case("functions_are_short",
         {"src/base/a.cc": "auto f = [](int a) " + body(71) + ";\n"}, ["src/base/a.cc:1"]),
    Case("functions_are_short",
         {"src/base/a.cc": "namespace t " + body(99) + "struct alignas(64) A " + body(99) + ";\n"
                           "enum class E " + body(99) + ";\nint kTable[] = " + body(99) + ";\n"
                           "const auto kAll = make(f(1), " + body(99) + ");\n"
                           'extern "C" ' + body(99)}, []),
    Case("functions_are_short",
         {"python/a.py": "def f():\n" + lines(70, "    x = 1\n")}, ["python/a.py:1"]),
    Case("functions_are_short", {"python/a.py": "def f():\n" + lines(69, "    x = 1\n")}, []),
    Case("lines_are_short", {"src/base/a.cc": "\n// " + "x" * 98 + "\n"}, ["src/base/a.cc:2"]),
    Case("lines_are_short", {"python/a.py": "# " + "x" * 99 + "\n"}, ["python/a.py:1"]),
    Case("lines_are_short", {"src/base/a.cc": "// " + "é" * 97 + "\n"}, []),
    Case("headers_are_guarded_by_pragma_once",
         {"src/base/a.h": "// A.\n#ifndef A_H\n#define A_H\n#endif\n"}, ["src/base/a.h:2"]),
    Case("headers_are_guarded_by_pragma_once",
         {"tests/support/a.h": "// #pragma once\n#include <vector>\n#pragma once\n"},
         ["tests/support/a.h:2"]),
    Case("headers_are_guarded_by_pragma_once", {"src/base/a.h": "// Empty.\n"}, ["src/base/a.h:1"]),
    Case("files_open_with_a_comment", {"src/base/a.h": "#pragma once\n"}, ["src/base/a.h:1"]),
    Case("files_open_with_a_comment",
         {"src/base/a.h": lines(4, "// More.\n") + "#pragma once\n"}, ["src/base/a.h:1"]),
    Case("files_open_with_a_comment", {"src/base/a.cc": lines(4, "// More.\n")},
         ["src/base/a.cc:1"]),
    Case("files_open_with_a_comment",
         {"src/base/a.cc": "#include <vector>\n", "tests/support/a.h": "#pragma once\n"}, []),
    Case("nothing_is_left_to_do",
         {"src/base/a.cc": "// TO" "DO: more\n", "docs/a.md": "\nFIX" "ME\n",
          "scripts/a": "# X" "XX\n"},
         ["docs/a.md:2", "scripts/a:1", "src/base/a.cc:1"]),
    Case("nothing_is_left_to_do",
         {"scripts/a": "mktemp -d t.XX" "XXXX\n", "data/a.csv": "TO" "DO\n",
          "docs/b.bin": "\0 TO" "DO\n"}, []),
    Case("time_comes_in_through_a_clock",
         {"src/base/a.cc": "auto a = std::chrono::steady_clock::now();\n"
                           "using Clock = std::chrono::steady_clock;\nauto b = Clock::now();\n"
                           "timespec t; clock_gettime(CLOCK_REALTIME, &t);\n"
                           "auto c = time(nullptr), d = std::time(0);\n"
                           "auto e = __rdtsc();\n"},
         [f"src/base/a.cc:{line}" for line in (1, 3, 4, 5, 5, 6)]),
    Case("time_comes_in_through_a_clock",
         {"tests/a_test.cc": "auto a = std::chrono::system_clock::now();\n"},
         ["tests/a_test.cc:1"]),
    Case("time_comes_in_through_a_clock",
         {"src/base/a_bench.cc": "auto a = std::chrono::steady_clock::now();\n",
          "bench/micro/a.cc": "auto a = std::chrono::steady_clock::now();\n",
          "src/base/a.cc": '// std::chrono::steady_clock::now()\nauto a = "time(nullptr)";\n'
                           "event.time(0);\nrun_time(0);\nclock_.monotonic_time_ns();\n"}, []),
    Case("no_path_of_a_machine_stands_in_a_file",
         {"docs/a.md": "see\n/wo" "rk/main\n", "src/base/a.cc": 'open("/ho" "me/me/x");\n'
          'open("/ho' 'me/me/x");\n', "CMakeLists.txt": "-I/ro" "ot/include\n",
          "models/a.onnx": "\0\1/ro" "ot/train.py"},
         ["CMakeLists.txt:1", "docs/a.md:2", "models/a.onnx:1", "src/base/a.cc:2"]),
    Case("no_path_of_a_machine_stands_in_a_file",
         {"docs/a.md": "https://x.org/ho" "me/a and ../wo" "rk/b and ~/wo" "rk/c\n"}, []),
    Case("modules_are_documented", {"src/extra/a.cc": ""}, ["src/extra:1", "src/extra:1"]),
    Case("modules_are_documented",
         {"docs/architecture.md": TABLE.replace("| 1 | `config` | c |\n", "")},
         ["docs/architecture.md:1"]),
    Case("modules_are_documented",
         {"docs/architecture.md": TABLE.replace("| 1 | `c", "| 2 | `c")},
         ["docs/architecture.md:1", "docs/architecture.md:1"]),
    Case("modules_are_documented",
         {"docs/architecture.md": TABLE + "| 7 | `cli` | e |\n"},
         ["docs/architecture.md:1"]),
    Case("modules_are_documented",
         {"cmake/layers.txt": "0 base\n1 config\n1 events\n2 ingest\n"},
         ["docs/architecture.md:1"]),
    Case("both_readmes_name_the_same_commands",
         {"README.md": "```sh\nscripts/start\nscripts/test\n```\n"}, ["README.md:3"]),
    Case("both_readmes_name_the_same_commands",
         {"README.zh-CN.md": "```sh\n$ scripts/start\n$ scripts/tset\n```\n"},
         ["README.zh-CN.md:3"]),
    Case("both_readmes_name_the_same_commands",
         {"README.md": "```\nscripts/start\n```\n"},
         ["README.md:1", "README.zh-CN.md:3", "README.md:1"]),
    Case("test_names_are_statements",
         {"src/base/a_test.cc": "TEST(A, Test1) {}\nTEST_F(A, Basic) {}\nTEST_P(A,\n  Reads2) {}\n"
                                "TEST(A, DISABLED_ReadsAFile) {}\nTEST(A, testNull) {}\n"},
         [f"src/base/a_test.cc:{line}" for line in (1, 2, 3, 5)]),
    Case("test_names_are_statements",
         {"src/base/a_test.cc": "TEST(A, ReadsUTF8) {}\n// TEST(A, Test1)\n"
                                "TYPED_TEST(A, RefusesNothing) {}\n"}, []),
]


def make_tree(folder: str, changes: Dict[str, str]) -> SourceTree:
    for path, text in {**CLEAN, **changes}.items():
        file = Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return SourceTree(folder)


def run_lint(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-B", lint.__file__, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


class LintTest(unittest.TestCase):
    def test_each_case_gives_exactly_its_faults(self):
        for case in CASES:
            with self.subTest(rule=case.rule, files=case.files):
                with tempfile.TemporaryDirectory() as folder:
                    tree = make_tree(folder, case.files)
                    found = [f"{p.path}:{p.line}" for p in lint.RULES[case.rule](tree)]
                self.assertEqual(found, case.faults)

    def test_every_rule_has_a_case_that_it_finds_a_fault_in(self):
        self.assertEqual({case.rule for case in CASES if case.faults}, set(lint.RULES))

    def test_the_clean_tree_passes_every_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            make_tree(folder, {})
            result = run_lint("--root", folder)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_a_fault_is_named_and_makes_the_exit_code_1(self):
        with tempfile.TemporaryDirectory() as folder:
            make_tree(folder, {"src/base/a.h": "// A.\nint x;\n"})
            result = run_lint("--root", folder)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "src/base/a.h:2: headers_are_guarded_by_pragma_once: "
                                        "the first code is not #pragma once\n")

    def test_only_the_named_rules_are_run(self):
        with tempfile.TemporaryDirectory() as folder:
            make_tree(folder, {"src/base/a.h": "// A.\nint x;\n"})
            self.assertEqual(run_lint("--root", folder, "files_are_short").returncode, 0)

    def test_wrong_usage_makes_the_exit_code_2(self):
        self.assertEqual(run_lint("no_such_rule").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run_lint("--root", folder).returncode, 2)

    def test_git_decides_which_files_count(self):
        with tempfile.TemporaryDirectory() as folder:
            make_tree(folder, {".gitignore": "/build/\n", "build/made.h": "int x;\n",
                               "src/base/new.h": "int x;\n", "src/base/gone.h": HEADER})
            git = ["git", "-c", "safe.directory=*", "-C", folder]
            subprocess.run(git + ["init", "--quiet"], check=True)
            subprocess.run(git + ["add", "src/base/gone.h"], check=True)
            (Path(folder) / "src/base/gone.h").unlink()
            tree = SourceTree(folder)
        self.assertTrue(tree.has("src/base/new.h"))
        self.assertFalse(tree.has("build/made.h"))
        self.assertFalse(tree.has("src/base/gone.h"))


class CppTextTest(unittest.TestCase):
    def test_literals_and_comments_are_blanked_in_place(self):
        text = 'a("x//y", \'"\'); // b "c\nR"(/*\n*/)" d /* e\n */ 1\'000\'000 f'
        blanked = cpp_text.without_comments(text, keep_literals=False)
        self.assertEqual(len(blanked), len(text))
        self.assertEqual(blanked.count("\n"), text.count("\n"))
        self.assertEqual(blanked.split(),
                         ['a("', '",', "'", "');", 'R', '"', 'd', "1'000'000", 'f'])

    def test_functions_are_measured_from_head_to_closing_brace(self):
        text = "int a();\n\nint b(\n    int x) {\n  if (x) { y(); }\n}\nstruct C {\n  C() {}\n};\n"
        self.assertEqual(list(cpp_text.functions(text)), [(3, 4), (8, 1)])


if __name__ == "__main__":
    unittest.main()
