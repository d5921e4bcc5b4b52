"""The program as its user runs it: outputs, exit codes, restarts after kill -9, bad input.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout; everything is written below a
temporary folder. The seed of the random kill points is printed.
"""

import gzip
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ["TOCSIN_BINARY"]
SOURCE = pathlib.Path(os.environ["TOCSIN_SOURCE_DIR"])
AAPL = SOURCE / "data/samples/lobster_aapl/AAPL_2012-06-21_34200000_57600000_message_10.slice.csv"
BTCUSDT = SOURCE / "data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz"
SEED = 20261130


def tocsin(*arguments, code=0, **options):
    """Runs the program and returns the finished process; the exit code must be `code`."""
    done = subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=240, **options
    )
    if done.returncode != code:
        raise AssertionError(
            f"{arguments}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
        )
    return done


class CliCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tocsin_cli_")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def config(self, name="aapl", source=AAPL, model="equity_burst_gru", extra="", speed=0):
        path = self.folder / f"{name}.yaml"
        path.write_text(
            f"name: {name}\nsource: {{path: {source}, speed: {speed}}}\n"
            f"model: {{package: {SOURCE}/models/{model}}}\n{extra}"
            f"output: {{folder: {self.folder}/{name}, sample_every: 5}}\n"
        )
        return path

    def outputs(self, name):
        """What a run leaves that must not depend on how often it was stopped."""
        folder = self.folder / name
        with sqlite3.connect(folder / "history.sqlite") as database:
            rows = database.execute("select count(*), count(distinct id) from alerts").fetchone()
        verified = json.loads(tocsin("audit", "verify", folder, "--json").stdout)
        self.assertTrue(verified["ok"])
        return (folder / "alerts.jsonl").read_text(), rows


class MainJob(CliCase):
    def test_aapl_agrees_with_its_oracle_and_every_alert_replays_equal(self):
        config = self.config()
        summary = json.loads(tocsin("run", config, "--json").stdout)
        self.assertEqual(summary["book"]["rows_compared"], 998)
        self.assertEqual(summary["book"]["rows_equal"], 998)
        self.assertEqual(summary["book"]["levels_compared"], 19642)
        self.assertEqual(summary["book"]["levels_equal"], 19642)
        self.assertEqual(summary["determinism"], "exact")
        self.assertEqual(summary["allocations_after_warmup"], 0)
        self.assertGreater(summary["alerts"], 0)
        lines = (self.folder / "aapl/alerts.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), summary["alerts"])
        for line in lines:
            alert_id = json.loads(line)["id"]
            replay = json.loads(tocsin("replay", alert_id, "--in", self.folder, "--json").stdout)
            self.assertTrue(replay["equal"])
            self.assertEqual(replay["recorded_bits"], replay["replayed_bits"])
            self.assertEqual(sum(replay["stages_ns"].values()), replay["total_ns"])
            self.assertIn(alert_id, tocsin("audit", "show", alert_id, "--in", self.folder).stdout)

    def test_two_runs_and_every_instruction_set_give_the_same_alerts(self):
        texts = set()
        version = tocsin("--version").stdout
        for isa in ("default", "avx2", "avx512"):
            if f" {isa}" not in version:
                continue
            config = self.config(name=isa)
            tocsin("run", config, "--quiet", env={**os.environ, "TOCSIN_ISA": isa})
            texts.add((self.folder / isa / "alerts.jsonl").read_text())
        self.assertEqual(len(texts), 1)
        once = self.outputs("default")
        tocsin("run", self.folder / "default.yaml", "--quiet")
        self.assertEqual(self.outputs("default"), once)
        wrong = {**os.environ, "TOCSIN_ISA": "abacus"}
        tocsin("run", self.folder / "default.yaml", code=2, env=wrong)

    def test_onnxruntime_says_its_class_and_keeps_its_promise(self):
        config = self.config()
        text = config.read_text()
        config.write_text(text.replace("_gru}", "_gru, engine: onnxruntime}"))
        summary = json.loads(tocsin("run", config, "--json").stdout)
        self.assertEqual(summary["determinism"], "tolerance")
        alert_id = json.loads((self.folder / "aapl/alerts.jsonl").read_text().splitlines()[0])["id"]
        replay = json.loads(tocsin("replay", alert_id, "--in", self.folder, "--json").stdout)
        self.assertTrue(replay["agrees"])

    def test_one_package_takes_windows_of_30_60_and_120_steps(self):
        for steps in (30, 60, 120):
            config = self.config(name=f"steps{steps}")
            config.write_text(config.read_text().replace("gru}", f"gru, steps: {steps}}}"))
            summary = json.loads(tocsin("run", config, "--json").stdout)
            self.assertEqual(summary["steps"], steps)
            self.assertEqual(summary["windows_scored"], summary["frames"] - steps + 1)

    def test_inspect_compares_the_book_with_the_ticker(self):
        report = json.loads(tocsin("inspect", BTCUSDT, "--json").stdout)
        self.assertEqual(report["messages"], 93954)
        self.assertEqual(report["gaps"], 0)
        self.assertEqual(report["top_of_book"], {"compared": 629, "equal": 629})

    def test_plot_writes_a_page_that_needs_no_network(self):
        tocsin("run", self.config(), "--quiet")
        tocsin("plot", self.folder / "aapl")
        page = (self.folder / "aapl/report.html").read_text()
        self.assertIn("const run = {", page)
        self.assertNotIn("src=", page)


class Restart(CliCase):
    def test_kill_and_restart_lose_nothing_and_repeat_nothing(self):
        print("seed", SEED)
        source = random.Random(SEED)
        tocsin("run", self.config(name="whole"), "--quiet")
        whole = self.outputs("whole")
        config = self.config(name="killed", speed=40)  # 49 s of trading in 1.2 s
        for _ in range(4):
            command = [BINARY, "run", config, "--quiet"]
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            time.sleep(source.uniform(0.05, 1.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if (self.folder / "killed/ledger/000001.ledger").exists():
                tocsin("audit", "verify", self.folder / "killed")
        tocsin("run", config, "--quiet")
        self.assertEqual(self.outputs("killed"), whole)

    def test_an_interrupt_ends_in_order_and_the_same_command_goes_on(self):
        tocsin("run", self.config(name="whole"), "--quiet")
        config = self.config(name="stopped", speed=10)
        process = subprocess.Popen(
            [BINARY, "run", config], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        tocsin("audit", "verify", self.folder / "stopped")
        tocsin("run", config, "--quiet")
        self.assertEqual(self.outputs("stopped"), self.outputs("whole"))


class BadInput(CliCase):
    def expect(self, code, words, *arguments, **options):
        done = tocsin(*arguments, code=code, **options)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_truncated_file_keeps_what_came_before(self):
        cut = self.folder / "cut.gz"
        cut.write_bytes(BTCUSDT.read_bytes()[:400_000])
        config = self.config(name="cut", source=cut, model="btcusdt_burst_lstm")
        self.expect(3, ["cut.gz"], "run", config, "--quiet")
        verified = json.loads(tocsin("audit", "verify", self.folder / "cut", "--json").stdout)
        self.assertGreater(verified["records"], 2)

    def test_files_that_are_no_feed_are_named_as_such(self):
        empty, garbage = self.folder / "empty", self.folder / "garbage"
        empty.write_bytes(b"")
        garbage.write_bytes(random.Random(SEED).randbytes(100_000))
        for path in (empty, garbage):
            self.expect(3, [path.name], "inspect", path)
        self.expect(2, ["nowhere"], "inspect", self.folder / "nowhere")
        self.expect(2, ["dbn"], "inspect", AAPL, "--format", "dbn")

    def test_shuffled_lines_are_counted_not_applied(self):
        with gzip.open(BTCUSDT, "rt") as file:
            lines = [next(file) for _ in range(3000)]
        random.Random(SEED).shuffle(lines)
        path = self.folder / "shuffled"
        path.write_text("".join(lines))
        report = json.loads(tocsin("inspect", path, "--json").stdout)
        self.assertGreater(report["gaps"] + report["out_of_order"], 0)

    def test_a_newer_dbn_version_is_refused_by_its_number(self):
        path = self.folder / "new.dbn"
        path.write_bytes(b"DBN\x04" + (200).to_bytes(4, "little") + bytes(200))
        self.expect(3, ["4"], "inspect", path)

    def test_a_configuration_error_names_file_line_key_and_nearest(self):
        config = self.config()
        config.write_text(config.read_text().replace("sample_every", "sample_evry"))
        words = ["aapl.yaml:4", "output.sample_evry", "output.sample_every"]
        self.expect(2, words, "config", "check", config)
        self.expect(2, ["aapl.yaml:4"], "run", config)

    def test_a_changed_package_is_refused_with_the_reason(self):
        package = self.folder / "models/equity_burst_gru/1"
        package.mkdir(parents=True)
        for file in (SOURCE / "models/equity_burst_gru/1").iterdir():
            (package / file.name).write_bytes(file.read_bytes())
        model = bytearray((package / "model.onnx").read_bytes())
        model[1000] ^= 1
        (package / "model.onnx").write_bytes(model)
        done = tocsin("models", "verify", self.folder / "models", code=1)
        self.assertIn("sha", done.stdout.lower())

    def test_a_full_disk_ends_the_run_and_leaves_whole_records(self):
        config = self.config(name="full")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

        self.expect(4, ["full"], "run", config, "--quiet", preexec_fn=small_files)
        tocsin("audit", "verify", self.folder / "full")

    def test_a_file_in_the_place_of_the_output_folder_is_an_error(self):
        config = self.config(name="taken")
        (self.folder / "taken").write_text("")
        done = subprocess.run([BINARY, "run", config], capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (2, 4))
        self.assertIn("taken", done.stderr)

    def test_a_flipped_byte_in_a_ledger_is_found_and_located(self):
        tocsin("run", self.config(), "--quiet")
        segment = self.folder / "aapl/ledger/000001.ledger"
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 4
        segment.write_bytes(content)
        done = tocsin("audit", "verify", self.folder / "aapl", "--json", code=1)
        report = json.loads(done.stdout)
        self.assertFalse(report["ok"])
        self.assertEqual(report["fault"]["segment"], 1)
        self.assertLess(abs(report["fault"]["byte"] - len(content) // 2), 2000)


class Machine(CliCase):
    """What is asked of the machine; how good it is, is not the test's to say."""

    MODEL = SOURCE / "models/equity_burst_gru"

    def measured(self, *arguments):
        """The JSON of a command that ends with 1 where it found something to set."""
        done = subprocess.run(
            [BINARY, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=240
        )
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if report["ok"] else 1, done.stderr)
        return report

    def test_engines_say_what_of_a_model_they_compute_ahead(self):
        command = ("engines", "--model", self.MODEL, "--seconds", "0.02")
        engines = {e["name"]: e for e in json.loads(tocsin(*command, "--json").stdout)}
        native, reference = engines["native"], engines["reference"]
        self.assertLess(native["last_step_share"], 0.05)
        self.assertGreater(native["bytes_per_key"], 1000)
        self.assertGreater(native["events_per_s_max"], 10)
        self.assertIsNone(reference["last_step_share"])
        self.assertIn("whole windows", reference["reason"])
        self.assertIn("whole windows", tocsin(*command).stdout)
        for engine in json.loads(tocsin("engines", "--json").stdout):
            self.assertNotIn("last_step_share", engine)
        tocsin("engines", "--model", SOURCE / "README.md", code=3)
        tocsin("engines", "--model", self.folder / "nowhere", code=2)
        tocsin("engines", "--seconds", "1", code=2)

    def test_bench_engines_measures_what_answers_right_and_says_why_others_do_not(self):
        nowhere = {**os.environ, "TOCSIN_OPENVINO": "/nowhere"}
        page = self.folder / "engines.html"
        command = ("bench", "engines", "--model", self.MODEL, "--batch", "1,3", "--seconds", "0.02",
                   "--precision", "float32")
        report = json.loads(tocsin(*command, "--html", page, "--json", env=nowhere).stdout)
        rows = {(row["engine"], row["batch"]): row for row in report["rows"]}
        for engine in ("native", "reference", "onnxruntime"):
            for batch in (1, 3):
                row = rows[engine, batch]
                self.assertFalse(row["skipped"], row)
                self.assertGreater(row["latency_ns"]["count"], 0)
                self.assertGreater(row["rss_bytes"], 0)
                self.assertLess(row["max_abs_error"], 1e-4 if engine == "onnxruntime" else 1e-45)
        self.assertIn("/nowhere", rows["openvino", 1]["skipped"])
        self.assertIn("onnxruntime-openvino", {engine for engine, _ in rows})
        self.assertNotIn("src=", page.read_text())
        wrong = tocsin(*command, "--engines", "abacus", code=2)
        self.assertIn("no engine is named", wrong.stderr)
        tocsin(*command, "--seconds", "nan", code=2)

    def test_bench_last_step_keeps_its_schedule_and_says_what_is_left(self):
        command = ("bench", "last-step", "--model", self.MODEL, "--rate", "500", "--seconds", "0.2")
        report = json.loads(tocsin(*command, "--json").stdout)
        self.assertEqual(report["engine"], "native")
        self.assertIn(report["latency_ns"]["count"], range(80, 101))  # the first warm up
        self.assertGreater(report["events_per_s_sustained"], 0)
        tocsin("bench", "last-step", "--shape", "S9x9", code=2)

    def test_a_run_takes_of_the_machine_what_its_configuration_says(self):
        cpus = sorted(os.sched_getaffinity(0))
        keys = f"runtime: {{cpu: {cpus[0]}, sink_cpu: {cpus[-1]}, idle: sleep}}\n"
        config = self.config(extra=keys)
        self.assertIn(f"cpu: {cpus[0]}", tocsin("config", "show", config).stdout)
        placed = tocsin("run", config).stderr
        self.assertIn(f"pipeline on CPU {cpus[0]}, outputs on CPU {cpus[-1]}", placed)
        tocsin("run", self.config(name="plain"), "--quiet")
        self.assertEqual(self.outputs("aapl"), self.outputs("plain"))
        spun = tocsin("run", self.config(name="spun", extra="runtime: {idle: spin}\n"))
        self.assertIn("spin when idle", spun.stderr)
        self.assertEqual(self.outputs("spun"), self.outputs("plain"))
        absent = self.config(name="absent", extra="runtime: {cpu: 60000}\n")
        self.assertIn("runtime.cpu", tocsin("run", absent, code=2).stderr)
        self.assertFalse((self.folder / "absent").exists())
        wrong = self.config(name="wrong", extra="runtime: {idel: spin}\n")
        self.assertIn("runtime.idle", tocsin("config", "check", wrong, code=2).stderr)

    def test_locked_memory_is_locked_or_the_run_says_how_to_raise_the_limit(self):
        config = self.config(name="locked", extra="runtime: {lock_memory: true}\n")
        command = [BINARY, "run", config]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode == 4:
            self.assertIn("ulimit -l", done.stderr)
            self.assertFalse((self.folder / "locked").exists())
        else:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("memory locked", done.stderr)

    def test_doctor_host_names_what_was_found_and_what_to_set(self):
        report = self.measured("doctor", "host", "--seconds", "0.05")
        names = [finding["name"] for finding in report["findings"]]
        for name in ("cpu", "isa", "smt", "numa", "governor", "isolation", "huge_pages",
                     "cpu_quota", "swap", "locked_memory", "tsc", "jitter"):
            self.assertIn(name, names)
        for finding in report["findings"]:
            self.assertTrue(finding["found"], finding)
            self.assertTrue(finding["ok"] or finding["advice"], finding)
        self.assertEqual(report["cpus"], sorted(os.sched_getaffinity(0)))
        self.assertGreater(report["jitter_ns"]["count"], 100)
        tocsin("doctor", "host", "--cpu", "60000", code=2)

    def test_doctor_host_sees_a_narrower_choice_of_instructions(self):
        if " avx2" not in tocsin("--version").stdout:
            self.skipTest("this machine has one instruction set")
        environment = {**os.environ, "TOCSIN_ISA": "default"}
        done = tocsin("doctor", "host", "--seconds", "0.01", code=1, env=environment)
        self.assertIn("unset TOCSIN_ISA", done.stdout)

    def test_doctor_contention_measures_its_own_advice(self):
        command = ("doctor", "contention", "--model", self.MODEL, "--batch", "4")
        report = self.measured(*command, "--engines", "native,reference", "--seconds", "0.2")
        for setting in filter(None, (report["found"], report["advised"])):
            self.assertEqual([e["engine"] for e in setting["engines"]], ["native", "reference"])
            for engine in setting["engines"]:
                self.assertGreater(engine["together_ns"]["count"], 0)
        if report["advised"]:
            first, second = (set(e["cpus"]) for e in report["advised"]["engines"])
            self.assertFalse(first & second)
        self.assertEqual(report["ok"], not report["advice"])
        nowhere = {**os.environ, "TOCSIN_ONNXRUNTIME": "/nowhere", "TOCSIN_OPENVINO": "/nowhere"}
        self.assertIn("/nowhere", tocsin(*command, code=4, env=nowhere).stderr)
        tocsin(*command, "--engines", "native,abacus", code=2)


class Precision(CliCase):
    def quantize(self, *options, code=0, version=2):
        out = self.folder / "models/btcusdt_burst_lstm" / str(version)
        package = SOURCE / "models/btcusdt_burst_lstm/1"
        config = SOURCE / "config/btcusdt.yaml"
        return out, tocsin("quantize", package, "--config", config, "-o", out, *options, code=code)

    def test_a_quantised_package_alerts_like_full_precision_and_replays_equal(self):
        out, done = self.quantize("--json")
        report = json.loads(done.stdout)
        self.assertEqual(report["samples"], 5000)
        self.assertEqual(report["band"]["kind"], "quantile")
        self.assertLess(report["bytes"], report["bytes_float32"] / 3)
        tocsin("models", "verify", self.folder / "models")
        shown = json.loads(tocsin("models", "show", out, "--json").stdout)[0]["precision"]
        self.assertEqual(shown["name"], "int8")
        self.assertEqual(shown["band"]["width"], report["band"]["width"])
        self.assertIn("guard band", tocsin("models", "show", out).stdout)
        alerts = {}
        for name, extra in (("int8", ""), ("stream", ", rescore: stream"),
                            ("float32", ", precision: float32")):
            config = self.config(name=name, source=BTCUSDT)
            text = config.read_text().replace(f"{SOURCE}/models/equity_burst_gru", f"{out}{extra}")
            config.write_text(text)
            summary = json.loads(tocsin("run", config, "--json").stdout)
            self.assertEqual(summary["precision"], "float32" if name == "float32" else "int8")
            alerts[name] = [alert["id"] for alert in summary["alert_list"]]
            if name != "float32":
                self.assertGreater(summary["rescored"], 0)
                self.assertLess(summary["rescored"], summary["windows_scored"] / 20)
            else:
                self.assertEqual(summary["rescored"], 0)
        self.assertGreater(len(alerts["int8"]), 0)
        self.assertEqual(alerts["int8"], alerts["float32"])
        self.assertEqual(alerts["stream"], alerts["float32"])
        for alert_id in alerts["int8"]:
            replay = tocsin("replay", alert_id, "--in", self.folder / "int8", "--json")
            self.assertTrue(json.loads(replay.stdout)["equal"])

    def test_quantize_refuses_too_few_samples_and_a_version_that_exists(self):
        out, done = self.quantize("--sample-count", "999", code=2)
        self.assertIn("999 not in range 1000", done.stderr)
        self.assertFalse(out.exists())
        self.quantize("--precision", "bfloat16")
        self.assertIn("exists already", self.quantize(code=2)[1].stderr)
        self.quantize("--method", "hope", code=2)

    def test_the_audit_of_precisions_says_what_they_do_to_decisions(self):
        audit = ("precision", "audit", SOURCE / "models/btcusdt_burst_lstm")
        report = json.loads(
            tocsin(*audit, "--config", SOURCE / "config/btcusdt.yaml", "--json").stdout
        )
        rows = {row["precision"]: row for row in report["precisions"]}
        self.assertEqual(list(rows), ["float32", "bfloat16", "float16", "int8"])
        self.assertEqual(rows["float32"]["flips"], 0)
        self.assertGreater(rows["int8"]["flips"], 0)
        for row in rows.values():
            self.assertEqual(row["flips_with_band"], 0)
            self.assertGreater(row["auc_change"], -0.005)
        tocsin(*audit, code=2)


class Readme(CliCase):
    def test_every_command_of_the_readme_runs(self):
        text = (SOURCE / "README.md").read_text()
        blocks = [part.split("```")[0] for part in text.split("```sh\n")[1:]]
        commands = [line.split(" #")[0].split() for block in blocks for line in block.splitlines()]
        commands = [line for line in commands if line and line[0].startswith("build/")]
        self.assertGreater(len(commands), 8)
        for name in ("config", "data", "models"):
            os.symlink(SOURCE / name, self.folder / name)
        config = self.folder / "main.yaml"
        text = (SOURCE / "config/btcusdt.yaml").read_text()
        text = text.replace("../runs", str(self.folder / "runs")).replace("../", f"{SOURCE}/")
        config.write_text(text)
        tocsin("run", config, "--quiet", cwd=self.folder)
        for command in commands:
            arguments = command[1:]
            if arguments[0] == "run":
                arguments[1] = str(self.config())
            tocsin(*arguments, cwd=self.folder)

    def test_every_help_has_an_example(self):
        for command in ("run", "inspect", "replay", "plot", "engines", "audit verify", "audit show",
                        "models list", "models verify", "models show", "features list",
                        "features export", "config check", "config show", "bench pipeline",
                        "bench engines", "bench last-step", "doctor host", "doctor contention",
                        "quantize", "precision audit"):
            self.assertIn("Example:", tocsin(*command.split(), "--help").stdout, command)


if __name__ == "__main__":
    unittest.main()
