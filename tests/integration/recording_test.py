"""Recordings and exports as their user makes them: sources that fail, options that are wrong.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout.
"""

import json
import unittest

from cli_test import BTCUSDT, CliCase, tocsin


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


if __name__ == "__main__":
    unittest.main()
