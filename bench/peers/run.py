#!/usr/bin/env python3
"""Tocsin against databento-dbn and NautilusTrader on the same Databento MBO file, in one run.

Contenders take turns, each turn in a process of its own that times itself (start-up is not
counted); the figure is the median over the turns. Answers are compared first: the number of
records, and the best bid and ask at the end.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install databento-dbn nautilus_trader
    /tmp/peers/bin/python bench/peers/run.py FILE.mbo.dbn.zst --instrument ESH4.GLBX
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSES = 3  # of a peer in one turn; the median counts


def run_dbn_decode(arguments) -> dict:
    """databento-dbn from memory, already decompressed: a list of record objects."""
    import databento_dbn

    raw = subprocess.run(["zstd", "-dc", arguments.file], capture_output=True, check=True).stdout
    seconds = []
    for _ in range(PASSES):
        start = time.perf_counter()
        decoder = databento_dbn.DBNDecoder()
        decoder.write(raw)
        records = decoder.decode()
        seconds.append(time.perf_counter() - start)
    count = len(records) - 1  # the first is the metadata
    return {"messages": count, "per_s": count / statistics.median(seconds)}


def run_nautilus_book(arguments) -> dict:
    """NautilusTrader's loader, and each delta into its order book (both in Rust)."""
    from nautilus_trader.adapters.databento.loaders import DatabentoDataLoader
    from nautilus_trader.core import nautilus_pyo3
    from nautilus_trader.model.identifiers import InstrumentId

    loader = DatabentoDataLoader()
    seconds = []
    for _ in range(PASSES):
        start = time.perf_counter()
        deltas = loader.from_dbn_file(
            arguments.file,
            instrument_id=InstrumentId.from_str(arguments.instrument),
            price_precision=2,
            as_legacy_cython=False,
        )
        book = nautilus_pyo3.OrderBook(
            nautilus_pyo3.InstrumentId.from_str(arguments.instrument),
            nautilus_pyo3.BookType.L3_MBO,
        )
        apply = book.apply_delta
        for delta in deltas:
            apply(delta)
        seconds.append(time.perf_counter() - start)
    best = [float(str(book.best_bid_price())), float(str(book.best_ask_price()))]
    return {
        "messages": len(deltas),
        "per_s": len(deltas) / statistics.median(seconds),
        "best": best,
    }


PEERS = {"databento-dbn decode": run_dbn_decode, "nautilus_trader decode + book": run_nautilus_book}


def tocsin(arguments, *words: str) -> dict:
    command = [arguments.tocsin, *words, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def peer(arguments, name: str) -> dict:
    command = [sys.executable, __file__, arguments.file, "--instrument", arguments.instrument]
    command += ["--peer", name]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def check_answers(arguments) -> None:
    """Nothing is timed unless all agree."""
    messages = tocsin(arguments, "bench", "pipeline", arguments.file, "--seconds", "0")["messages"]
    decoded = peer(arguments, "databento-dbn decode")["messages"]
    if messages != decoded:
        sys.exit(f"{messages} messages by tocsin, {decoded} by databento-dbn")
    last_time = str(tocsin(arguments, "inspect", arguments.file)["last_time"])
    end = tocsin(arguments, "inspect", arguments.file, "--at", last_time)["picture"]
    own = [float(end["bids"][0]["price"]), float(end["asks"][0]["price"])]
    other = peer(arguments, "nautilus_trader decode + book")["best"]
    if own != other:
        sys.exit(f"best bid and ask at the end: {own} by tocsin, {other} by nautilus_trader")


def machine() -> dict:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.processor(), "cpus": os.cpu_count()}


def measure(arguments) -> dict:
    rates: dict = {}
    for _ in range(arguments.turns):
        report = tocsin(arguments, "bench", "pipeline", arguments.file, "--seconds", "0.3")
        rates.setdefault("tocsin decode", []).append(report["decode_messages_per_s"])
        rates.setdefault("tocsin decode + book + 40 features", []).append(report["messages_per_s"])
        for name in PEERS:
            rates.setdefault(name, []).append(peer(arguments, name)["per_s"])
    return {
        name: {
            "messages_per_s": round(statistics.median(values)),
            "least": round(min(values)),
            "greatest": round(max(values)),
        }
        for name, values in rates.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--instrument", default="ESH4.GLBX", help="its name at NautilusTrader")
    parser.add_argument("--tocsin", default=str(ROOT / "build/release/bin/tocsin"))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--output", help="JSON file of the results")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        print(json.dumps(PEERS[arguments.peer](arguments)))
        return
    check_answers(arguments)
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, check=True
    ).stdout
    results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {
            name: importlib.metadata.version(name) for name in ("databento-dbn", "nautilus_trader")
        },
        "commit": commit.decode().strip(),
        "command": f"bench/peers/run.py {pathlib.Path(arguments.file).name} "
        f"--instrument {arguments.instrument} --turns {arguments.turns}",
        "results": measure(arguments),
    }
    text = json.dumps(results, indent=2) + "\n"
    if arguments.output:
        pathlib.Path(arguments.output).write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
