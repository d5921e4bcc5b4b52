"""Commands that take a model, given bad ones and interrupted: reasons, exit codes, nothing left.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout.
"""

import json
import os
import signal
import subprocess
import time
import unittest

from cli_test import BINARY, SOURCE, CliCase, tocsin


def field(number, value):
    """A protobuf field: a varint, or bytes with their length in front."""

    def varint(count):
        text = bytearray()
        while count > 0x7F:
            text.append(count & 0x7F | 0x80)
            count >>= 7
        text.append(count)
        return bytes(text)

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor_info(name, shape):
    """A ValueInfoProto of float32; a dimension that is a name is free."""
    sizes = b"".join(
        field(1, field(1, size) if isinstance(size, int) else field(2, size)) for size in shape
    )
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, sizes)))


def model(operator, node=b"the node", steps=b"steps"):
    """An ONNX model [batch, steps, 3] -> the same, of one node."""
    tensors = [tensor_info(name, [b"batch", steps, 3]) for name in (b"x", b"y")]
    graph = (
        field(1, field(1, b"x") + field(2, b"y") + field(3, node) + field(4, operator))
        + field(2, b"graph")
        + field(11, tensors[0])
        + field(12, tensors[1])
    )
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


class BadModels(CliCase):
    def file(self, content, name="model.onnx"):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def bench(self, path, *options, code=0):
        command = ("bench", "engines", "--model", path, "--batch", "1", "--seconds", "0.005",
                   "--engines", "native,reference", "--precision", "float32")
        return tocsin(*command, *options, code=code)

    def test_a_model_that_no_engine_can_run_is_bad_input(self):
        done = self.bench(self.file(model(b"NoSuchThing")), "--steps", "5", code=3)
        self.assertIn("node 'the node' (NoSuchThing)", done.stdout)
        self.bench(self.file(model(b"Relu")), "--steps", "5")

    def test_names_in_a_model_reach_neither_the_terminal_nor_break_the_json(self):
        path = self.file(model(b"NoSuchThing", b"\x1b[2J\xed\nred"), "a\udced\x1b.onnx")
        for report in (
            self.bench(path, "--steps", "5", code=3).stdout,
            tocsin("engines", "--model", path, "--steps", "5").stdout,
        ):
            self.assertIn("node '?[2J??red' (NoSuchThing)", report)
            self.assertNotIn("\x1b", report)
        page = self.folder / "page.html"
        report = self.bench(path, "--steps", "5", "--json", "--html", page, code=3)
        self.assertIn("?[2J??red", json.loads(report.stdout)["rows"][0]["skipped"])
        self.assertEqual(json.loads(report.stdout)["model"], "a??.onnx")
        self.assertNotIn("\x1b", page.read_bytes().decode())
        listed = tocsin("engines", "--model", path, "--steps", "5", "--json").stdout
        self.assertIn("?[2J??red", json.loads(listed)[0]["reason"])

    def test_a_length_that_is_left_open_is_asked_for(self):
        path = self.file(model(b"Relu"))
        for command in ("engines", "bench engines", "bench last-step"):
            done = tocsin(*command.split(), "--model", path, code=2)
            self.assertIn("input 'x' leaves the length of a window open", done.stderr)
            self.assertIn("--steps", done.stderr)

    def test_a_model_of_empty_windows_is_measured_like_any(self):
        path = self.file(model(b"Relu", steps=0))
        tocsin("bench", "engines", "--model", path, "--batch", "1", "--seconds", "0.005")

    def test_a_model_cut_short_anywhere_is_refused(self):
        whole = (SOURCE / "models/equity_burst_gru/1/model.onnx").read_bytes()
        for size in (1, 7, 60, 1000, len(whole) // 2, len(whole) - 1):
            done = tocsin("engines", "--model", self.file(whole[:size]), "--steps", "5", code=3)
            self.assertIn("model.onnx: ", done.stderr)

    def test_an_endless_or_huge_file_is_refused_before_memory_ends(self):
        huge = self.file(b"", "huge.npz")
        os.truncate(huge, 1 << 36)
        for path in ("/dev/zero", huge):
            package = SOURCE / "models/equity_burst_gru"
            done = tocsin("precision", "audit", package, "--samples", path, code=3)
            self.assertIn(f"{path}: larger than ", done.stderr)
        self.assertIn("larger than", tocsin("plot", "/dev/zero", code=3).stderr)

    def test_options_that_mean_nothing_are_refused(self):
        path = self.file(model(b"Relu"))
        self.bench(path, "--seed", "-1", code=2)
        self.bench(path, "--seed", "18446744073709551616", code=2)
        tocsin("engines", "--model", "", code=2)
        bogus = {**os.environ, "TOCSIN_ISA": "bogus"}
        done = tocsin("models", "verify", SOURCE / "models", code=2, env=bogus)
        self.assertIn("TOCSIN_ISA=bogus: expected default", done.stderr)


class Interrupted(CliCase):
    def stopped_after(self, seconds, keys):
        """What a bench prints that is stopped so long after it has written its model."""
        process = subprocess.Popen(
            [BINARY, "bench", "last-step", "--seconds", "100", "--keys", keys, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(self.folder)},
        )
        deadline = time.monotonic() + 60
        while not list(self.folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(list(self.folder.iterdir()), [])
        return output

    def test_an_interrupted_last_step_bench_leaves_no_model_behind(self):
        # Stopped while its keys are warmed up, which takes far longer than this.
        self.assertEqual(self.stopped_after(0.1, "2000"), b"")
        # In its schedule, however long a slow machine takes to get there.
        for seconds in (2, 8, 32):
            output = self.stopped_after(seconds, "1")
            if output:
                break
        self.assertTrue(json.loads(output)["interrupted"])


if __name__ == "__main__":
    unittest.main()
