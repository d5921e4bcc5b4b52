"""Recordings and exports as their user makes them: sources that fail, options that are wrong.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout.
"""

import json
import resource
import signal
import unittest

from cli_test import AAPL, BTCUSDT, CliCase, tocsin


class Recordings(CliCase):
    def test_a_recording_of_a_truncated_file_ends_with_its_error(self):
        cut = self.folder / "btcusdt.gz"
        cut.write_bytes(BTCUSDT.read_bytes()[:700_000])
        recording = self.folder / "recording"
        recorded = json.loads(tocsin("record", cut, "-o", recording, "--json", code=3).stdout)
        self.assertIn("truncated at byte 700000", recorded["error"])
        reports = [
            json.loads(tocsin("inspect", source, "--json", code=3).stdout)
            for source in (cut, recording)
        ]
        self.assertEqual(reports[0]["error"], recorded["error"])
        self.assertIn("its source ended with an error: " + recorded["error"], reports[1]["error"])
        self.assertEqual(reports[1]["messages"], reports[0]["messages"])
        config = self.config(name="btc", source=recording, model="btcusdt_burst_lstm")
        self.assertIn(recorded["error"], tocsin("run", config, "--quiet", code=3).stderr)

    def test_times_outside_and_absurd_sizes_are_refused(self):
        recording = self.folder / "recording"
        for size in ("0", "-1", "65535", "18446744073709551615", "1MB"):
            refused = tocsin("record", AAPL, "-o", recording, "--segment-bytes", size, code=2)
            self.assertIn("expected a number from 65536", refused.stderr)
            self.assertFalse(recording.exists())
        tocsin("record", AAPL, "-o", recording, "--segment-bytes", 65536)
        outside = (("2001-01-01", "before the first"), ("2101-01-01", "after the last"))
        for option in ("--from", "--at"):
            for date, where in outside:
                refused = tocsin("inspect", recording, option, f"{date} 00:00:00", code=2)
                self.assertIn(f"{where} event", refused.stderr)
        refused = tocsin("inspect", AAPL, "--from", "2012-06-21 13:30:10", code=2)
        self.assertIn("make one with tocsin record", refused.stderr)
        warned = tocsin("record", AAPL, "-o", self.folder / "none", "--symbol", "NOSUCH")
        self.assertIn("none of the symbols asked for", warned.stderr)

    def test_a_full_disk_is_told_in_the_report_and_leaves_no_empty_file(self):
        def with_limit(size):
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

            return limit

        recording = self.folder / "recording"
        for size in (10, 4096, 500_000):
            told = tocsin(
                "record", BTCUSDT, "-o", recording, "--json", code=4, preexec_fn=with_limit(size)
            )
            self.assertIn("000001.tseg: cannot be written", told.stderr)
            self.assertEqual(recording.exists(), size == 500_000)
            if size > 10:  # else there was nothing to begin with
                report = json.loads(told.stdout)
                self.assertIn("000001.tseg: cannot be written", report["error"])
                self.assertEqual(report["blocks"] > 0, size == 500_000)
        kept = json.loads(tocsin("inspect", recording, "--json", code=3).stdout)
        self.assertIn("cut short", kept["error"])
        for name in ("frames.csv", "frames.npz"):
            frames = self.folder / name
            tocsin("features", "export", AAPL, "-o", frames, code=4, preexec_fn=with_limit(4096))
            self.assertEqual(list(self.folder.glob("frames*")), [])


if __name__ == "__main__":
    unittest.main()
