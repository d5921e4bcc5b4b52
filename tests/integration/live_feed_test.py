"""A live feed as its user runs it: started, fed over loopback multicast, ended by ctrl-C.

TOCSIN_BINARY names the program, TOCSIN_SOURCE_DIR the checkout.
"""

import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ["TOCSIN_BINARY"]
SOURCE = pathlib.Path(os.environ["TOCSIN_SOURCE_DIR"])


class LiveFeed(unittest.TestCase):
    """Two lines of MoldUDP64 on loopback multicast, each of which loses every second packet."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tocsin_live_")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def packet(self, sequence):
        message = struct.pack(">cHH", b"A", 1, 0)
        message += (34_200_000_000_000 + sequence * 1_000_000).to_bytes(6, "big")
        side, price = (b"B", 999_900) if sequence % 2 else (b"S", 1_000_100)
        message += struct.pack(">QcI8sI", sequence, side, 100, b"TEST    ", price)
        header = b"0000000042" + struct.pack(">QH", sequence, 1)
        return header + struct.pack(">H", len(message)) + message

    def test_it_joins_its_lines_and_ends_by_ctrl_c(self):
        port = 20_000 + os.getpid() % 20_000
        lines = [f"239.255.{60 + i}.{os.getpid() % 200 + 1}" for i in range(2)]
        config = self.folder / "live.yaml"
        config.write_text(
            "name: live\nsource:\n  format: moldudp64\n  udp:\n    interface: 127.0.0.1\n"
            f"    lines: ['{lines[0]}:{port}', '{lines[1]}:{port}']\n    hole_wait_ms: 1000\n"
            f"model: {{package: {SOURCE}/models/equity_burst_gru}}\n"
            f"output: {{folder: {self.folder}/live}}\n"
        )
        command = [BINARY, "run", config, "--json"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            loopback = socket.inet_aton("127.0.0.1")
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, loopback)
            for sequence in range(1, 801):
                sender.sendto(self.packet(sequence), (lines[sequence % 2], port))
                time.sleep(0.005)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, errors)
        summary = json.loads(output)
        self.assertGreater(summary["events"], 100, errors)
        self.assertEqual(summary["gaps"], 0)
        verified = subprocess.run(
            [BINARY, "audit", "verify", self.folder / "live"], capture_output=True, timeout=60
        )
        self.assertEqual(verified.returncode, 0, verified.stderr)


if __name__ == "__main__":
    unittest.main()
