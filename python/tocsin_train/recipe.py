"""A recipe: everything that a trained package follows from, read strictly from YAML."""

from __future__ import annotations

import dataclasses
import pathlib

import yaml


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One package to train. `train_share` and `validation_share` split the frames in time order."""

    name: str
    version: int
    description: str
    licence: str
    source: str  # base name of the market-data file that the frames come from
    cell: str  # "lstm" or "gru"
    layers: int
    units: int
    steps: int  # window length by default
    steps_allowed: list[int]
    move_ticks: int  # k: the event is a move of the mid by more than k ticks
    horizon_frames: int  # N: within the next N frames
    train_share: float
    validation_share: float
    alert_rate: float  # wanted alerts a frame on validation data: chooses the threshold
    epochs: int
    batch: int
    stride: int  # every stride-th window is trained on: neighbours are nearly equal
    learning_rate: float
    weight_decay: float
    dropout: float
    clip: float  # normalised values are clamped to [-clip, clip]
    tolerance: float  # largest difference an engine's outputs may show
    seed: int
    features: list[str]


def read_recipe(path: pathlib.Path) -> Recipe:
    """Reads a recipe; an unknown or a missing key is an error that names it."""
    values = yaml.safe_load(path.read_text())
    known = {field.name for field in dataclasses.fields(Recipe)}
    unknown = sorted(set(values) - known)
    missing = sorted(known - set(values))
    if unknown or missing:
        raise ValueError(f"{path}: unknown keys {unknown}, missing keys {missing}")
    recipe = Recipe(**values)
    if recipe.steps not in recipe.steps_allowed:
        raise ValueError(f"{path}: steps {recipe.steps} is not among steps_allowed")
    return recipe
