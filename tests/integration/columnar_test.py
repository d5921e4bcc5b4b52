"""Parquet from the command line: exported, read back, and refused where the plug-in is missing.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout.
"""

import json
import os
import unittest
from pathlib import Path

from cli_test import AAPL, CliCase, tocsin

PLUGIN = Path(os.environ["TOCSIN_BINARY"]).parent / "libtocsin_arrow.so"
MAP = """\
name: frames
format: csv
header: true
time_unit: ns
messages:
  - {kind: trade, time: exchange_time_ns, symbol: symbol, price: mid, quantity: price_tick_nanos}
"""


@unittest.skipUnless(PLUGIN.exists(), "scripts/fetch-arrow has brought no Apache Arrow")
class Columnar(CliCase):
    def export(self, name, *options):
        path = self.folder / name
        exported = tocsin("features", "export", AAPL, "-o", path, "--json", *options)
        return path, json.loads(exported.stdout)

    def test_a_parquet_export_is_read_like_the_csv_of_the_same_frames(self):
        with_map = ("--map", self.folder / "map.yaml", "--json")
        (self.folder / "map.yaml").write_text(MAP)
        reports = []
        for name in ("frames.csv", "frames.parquet"):
            path, exported = self.export(name)
            self.assertEqual(exported["format"], path.suffix[1:])
            reports.append(json.loads(tocsin("inspect", path, *with_map).stdout))
            self.assertEqual(reports[-1]["by_type"]["trade"], exported["frames"])
        same = ("messages", "by_type", "events", "malformed", "first_time", "last_time", "symbols")
        for key in same:
            self.assertEqual(reports[0][key], reports[1][key], key)
        self.assertEqual(reports[1]["first_time"] // 10**18, 1)
        recording = self.folder / "recording"
        recorded = json.loads(tocsin("record", path, *with_map, "-o", recording).stdout)
        self.assertEqual(recorded["events"], reports[1]["events"])

    def test_a_table_without_a_map_says_what_columns_it_has(self):
        path, _ = self.export("frames.parquet", "--feature", "mid")
        told = tocsin("inspect", path, code=2).stderr
        self.assertIn("a Parquet file with the columns symbol,record,exchange_time_ns", told)
        self.assertIn("--map", told)

    def test_without_the_plug_in_one_line_says_so_and_nothing_is_left(self):
        path, _ = self.export("frames.parquet")
        without = {**os.environ, "TOCSIN_ARROW": "/nowhere"}
        told = tocsin("inspect", path, code=4, env=without).stderr
        self.assertIn("TOCSIN_ARROW names /nowhere", told)
        self.assertEqual(len(told.splitlines()), 1)
        other = self.folder / "other.parquet"
        told = tocsin("features", "export", AAPL, "-o", other, code=4, env=without).stderr
        self.assertIn("TOCSIN_ARROW names /nowhere", told)
        self.assertFalse(other.exists())

    def test_a_truncated_file_is_named(self):
        path, _ = self.export("frames.parquet")
        path.write_bytes(path.read_bytes()[:-100])
        told = tocsin("inspect", path, code=3).stderr
        self.assertIn(f"{path}: ", told)
        self.assertIn("Parquet", told)


if __name__ == "__main__":
    unittest.main()
