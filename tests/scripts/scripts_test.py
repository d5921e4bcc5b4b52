"""What the scripts say and how they exit, on a copy of them that nothing is installed for."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "scripts", self.checkout / "scripts")

    def run_script(self, *command):
        return subprocess.run([self.checkout / "scripts" / command[0], *command[1:]], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def test_help_shows_usage_and_an_example(self):
        for name in ("setup", "start", "test", "lint", "tidy", "fuzz"):
            with self.subTest(name):
                run = self.run_script(name, "--help")
                self.assertEqual(run.returncode, 0)
                self.assertTrue(run.stdout.startswith(f"usage: scripts/{name}"), run.stdout)
                self.assertIn(f"example: scripts/{name}", run.stdout)

    def test_no_install_names_what_is_missing_and_fetches_nothing(self):
        with open(self.checkout / "scripts" / "debian-packages.txt", "a", encoding="utf-8") as file:
            file.write("build  tocsin-no-such-package  for this test\n")
        for name in ("setup", "start", "test"):
            with self.subTest(name):
                run = self.run_script(name, "--no-install")
                self.assertEqual(run.returncode, 4, run.stderr)
                self.assertIn("tocsin-no-such-package", run.stderr)
                self.assertIn("ONNX Runtime", run.stderr)
                self.assertIn("Apache Arrow", run.stderr)
                self.assertEqual([path.name for path in self.checkout.iterdir()], ["scripts"])

    def test_a_package_of_another_group_is_not_asked_for(self):
        with open(self.checkout / "scripts" / "debian-packages.txt", "a", encoding="utf-8") as file:
            file.write("fuzz  tocsin-no-such-package  for this test\n")
        self.assertNotIn("no-such-package", self.run_script("setup", "--no-install").stderr)
        self.assertIn("no-such-package", self.run_script("setup", "--no-install", "fuzz").stderr)

    def test_wrong_usage_is_exit_code_2(self):
        for command in (("setup", "no-such-group"), ("setup", "--no-such-option"),
                        ("lint", "argument"), ("tidy", "--seconds", "soon"), ("fuzz", "one")):
            with self.subTest(command):
                run = self.run_script(*command)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn("error: ", run.stderr)


if __name__ == "__main__":
    unittest.main()
