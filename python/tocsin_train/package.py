"""Writes a model package as docs/model-packages.md describes it."""

from __future__ import annotations

import hashlib
import json
import pathlib

import numpy as np
import torch

OPSET = 17


def export_onnx(
    network: torch.nn.Module, feature_count: int, steps: int, path: pathlib.Path
) -> None:
    """Exports the network with free batch and time axes."""
    network.eval()
    torch.onnx.export(
        network,
        (torch.zeros(2, steps, feature_count),),
        str(path),
        input_names=["window"],
        output_names=["probability"],
        dynamic_axes={"window": {0: "batch", 1: "steps"}, "probability": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )


def catalogue_versions(path: pathlib.Path) -> dict[str, int]:
    """Name -> formula version, as the program that will run the model prints them."""
    return {feature["name"]: feature["version"] for feature in json.loads(path.read_text())}


def schema_hash(features: list[str], versions: dict[str, int]) -> str:
    """BLAKE2s over "tocsin-features" and each name with its version, a line each."""
    lines = ["tocsin-features"] + [f"{name} {versions[name]}" for name in features]
    return hashlib.blake2s("".join(line + "\n" for line in lines).encode()).hexdigest()


def float32_text(value: float) -> str:
    """The shortest decimal that reads back as the same 32-bit float."""
    return repr(float(np.float32(value)))


def float_list(values: np.ndarray) -> str:
    return "[" + ", ".join(float32_text(value) for value in values) + "]"


def sha256_of(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_package_yaml(folder: pathlib.Path, recipe, parts: dict) -> None:
    """Writes package.yaml with its seal. `parts`: mean, scale, threshold, release_threshold,
    alert_rate, seen (list of dicts), evaluation (list of dicts), versions (name -> version)."""
    versions = parts["versions"]
    lines = [
        "format: 1",
        f"name: {recipe.name}",
        f"version: {recipe.version}",
        f"description: {json.dumps(recipe.description)}",
        f"licence: {recipe.licence}",
        "checksums:",
        f'  model: "{sha256_of(folder / "model.onnx")}"',
        f'  samples: "{sha256_of(folder / "samples.npz")}"',
        "inputs:",
        f"  - {{name: window, type: float32, shape: [-1, -1, {len(recipe.features)}]}}",
        "outputs:",
        "  - {name: probability, type: float32, shape: [-1, 1]}",
        "output_index: 0",
        "features:",
        f'  schema_hash: "{schema_hash(recipe.features, versions)}"',
        "  list:",
    ]
    lines += [f"    - {{name: {name}, version: {versions[name]}}}" for name in recipe.features]
    lines += [
        "normalisation:",
        f"  mean: {float_list(parts['mean'])}",
        f"  scale: {float_list(parts['scale'])}",
        f"  clip: {float32_text(recipe.clip)}",
        "window:",
        f"  steps: {recipe.steps}",
        f"  steps_allowed: {recipe.steps_allowed}",
        "target:",
        f"  move_ticks: {recipe.move_ticks}",
        f"  horizon_frames: {recipe.horizon_frames}",
        "decision:",
        f"  threshold: {float32_text(parts['threshold'])}",
        f"  release_threshold: {float32_text(parts['release_threshold'])}",
        f"  alert_rate: {parts['alert_rate']:.6f}",
        "samples:",
        f"  tolerance: {recipe.tolerance}",
        "seen:",
    ]
    lines += [
        f"  - {{source: {part['source']}, part: {part['part']}, "
        f"first_record: {part['first_record']}, last_record: {part['last_record']}}}"
        for part in parts["seen"]
    ]
    lines.append("evaluation:")
    lines += [
        f"  - {{name: {figure['name']}, data: {json.dumps(figure['data'])}, "
        f"value: {figure['value']:.6f}}}"
        for figure in parts["evaluation"]
    ]
    text = "\n".join(lines) + "\n"
    seal = hashlib.sha256(text.encode()).hexdigest()
    (folder / "package.yaml").write_text(text + f'seal: "{seal}"\n')
