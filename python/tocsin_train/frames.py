"""Frames as `tocsin features export` writes them, the burst target, and the split in time."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import pathlib

import numpy as np

META_COLUMNS = [
    "symbol",
    "record",
    "exchange_time_ns",
    "quality",
    "mid_price_nanos_x2",
    "price_tick_nanos",
]


@dataclasses.dataclass(frozen=True)
class Frames:
    """One instrument in time order: values [n, F], records [n], mids in half ticks [n]."""

    values: np.ndarray  # float32
    records: np.ndarray  # int64, position in the source
    mid_half_ticks: np.ndarray  # int64, best bid + best ask in ticks
    names: list[str]


def load_frames(path: pathlib.Path, features: list[str]) -> Frames:
    """Reads the exported CSV and keeps `features`, in that order."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="") as file:
        rows = csv.reader(file)
        heading = next(rows)
        missing = [name for name in features if name not in heading]
        if missing:
            raise ValueError(f"{path}: no columns {missing}")
        columns = [heading.index(name) for name in features]
        record, mid, tick, symbol = (
            heading.index(name)
            for name in ("record", "mid_price_nanos_x2", "price_tick_nanos", "symbol")
        )
        values, records, mids, symbols = [], [], [], set()
        for row in rows:
            values.append([row[c] for c in columns])
            records.append(int(row[record]))
            mids.append(int(row[mid]) // int(row[tick]))
            symbols.add(row[symbol])
    if len(symbols) != 1:
        raise ValueError(f"{path}: one instrument expected, found {sorted(symbols)}")
    return Frames(
        np.asarray(values, dtype=np.float32),
        np.asarray(records, dtype=np.int64),
        np.asarray(mids, dtype=np.int64),
        features,
    )


def burst_target(mid_half_ticks: np.ndarray, move_ticks: int, horizon_frames: int) -> np.ndarray:
    """1 where the mid moves by more than `move_ticks` within the next `horizon_frames` frames.

    The last `horizon_frames` frames cannot be judged and are left out: n - N values.
    """
    windows = np.lib.stride_tricks.sliding_window_view(mid_half_ticks, horizon_frames + 1)
    now = windows[:, 0]
    furthest = np.maximum(windows.max(axis=1) - now, now - windows.min(axis=1))
    return (furthest > 2 * move_ticks).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Split:
    """Frame ranges [first, last) whose newest frame is trained on, validated on, tested on."""

    train: range
    validation: range
    test: range


def split_in_time(count: int, recipe) -> Split:
    """Earlier frames train, later ones test. Between parts `horizon_frames` frames are left out:
    their target looks into the next part. Windows may look back over the border: only their newest
    frame decides where they belong, and features never look ahead."""
    first = max(recipe.steps_allowed) - 1
    train_end = int(count * recipe.train_share)
    validation_end = int(count * (recipe.train_share + recipe.validation_share))
    gap = recipe.horizon_frames
    return Split(
        range(first, train_end - gap),
        range(train_end, validation_end - gap),
        range(validation_end, count),
    )
