"""Trains one package from a recipe and the frames of a market-data file.

    tocsin features list --json > catalogue.json
    tocsin features export FEED --output frames.csv
    python -m tocsin_train.train RECIPE frames.csv --catalogue catalogue.json --models models
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import torch

from tocsin_train import evaluation, package
from tocsin_train.frames import Split, burst_target, load_frames, split_in_time
from tocsin_train.network import BurstNetwork
from tocsin_train.recipe import Recipe, read_recipe

SAMPLES_PER_LENGTH = 32
RELEASE_SHARE = 0.8  # the release threshold as a share of the threshold
PATIENCE_EPOCHS = 4


def normalisation(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and inverse deviation of each feature; a constant feature gets scale 1."""
    mean = values.mean(axis=0, dtype=np.float64)
    deviation = values.std(axis=0, dtype=np.float64)
    scale = np.where(deviation > 1e-9, 1.0 / np.maximum(deviation, 1e-9), 1.0)
    return mean.astype(np.float32), scale.astype(np.float32)


def normalised(values: np.ndarray, mean: np.ndarray, scale: np.ndarray, clip: float) -> np.ndarray:
    """The same single-precision arithmetic as src/scoring/normaliser.cc."""
    result = (values - mean) * scale
    limit = np.float32(clip)
    return np.clip(result, -limit, limit).astype(np.float32)


class WindowScorer:
    """Scores windows that end at given frames, in batches."""

    def __init__(self, network: BurstNetwork, values: np.ndarray):
        self.network = network
        self.values = torch.from_numpy(values)

    def windows(self, ends: np.ndarray, steps: int) -> torch.Tensor:
        index = torch.from_numpy(ends)[:, None] + torch.arange(-steps + 1, 1)[None, :]
        return self.values[index]

    def scores(self, ends: np.ndarray, steps: int) -> np.ndarray:
        self.network.eval()
        with torch.no_grad():
            parts = [
                self.network(self.windows(ends[i : i + 1024], steps)).numpy()[:, 0]
                for i in range(0, len(ends), 1024)
            ]
        return np.concatenate(parts)


def fit(scorer: WindowScorer, target: np.ndarray, split: Split, recipe: Recipe) -> None:
    """Cross entropy with Adam; window lengths vary from batch to batch; the epoch with the best
    validation PR AUC is kept."""
    network = scorer.network
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    loss_function = torch.nn.BCEWithLogitsLoss()
    random = np.random.default_rng(recipe.seed)
    validation_ends = np.asarray(split.validation)
    best, best_state, stale = -1.0, None, 0
    for epoch in range(recipe.epochs):
        network.train()
        ends = np.asarray(split.train)[random.integers(recipe.stride) :: recipe.stride]
        random.shuffle(ends)
        losses = []
        for first in range(0, len(ends), recipe.batch):
            batch = ends[first : first + recipe.batch]
            steps = int(random.choice(recipe.steps_allowed + [recipe.steps] * 2))
            loss = loss_function(
                network.logits(scorer.windows(batch, steps))[:, 0],
                torch.from_numpy(target[batch]),
            )
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            losses.append(loss.item())
        score = scorer.scores(validation_ends, recipe.steps)
        result = evaluation.figures(target[validation_ends], score)
        print(
            f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, validation roc_auc "
            f"{result['roc_auc']:.4f}, pr_auc {result['pr_auc']:.4f}",
            flush=True,
        )
        if result["pr_auc"] > best:
            best, stale = result["pr_auc"], 0
            best_state = {name: value.clone() for name, value in network.state_dict().items()}
        else:
            stale += 1
            if stale >= PATIENCE_EPOCHS:
                break
    network.load_state_dict(best_state)


def samples(scorer: WindowScorer, split: Split, recipe: Recipe) -> dict[str, np.ndarray]:
    """Validation windows with outputs, for each length: half spread evenly, half the highest."""
    arrays = {}
    ends = np.asarray(split.validation)
    for steps in recipe.steps_allowed:
        order = np.argsort(scorer.scores(ends, steps))
        half = SAMPLES_PER_LENGTH // 2
        spread = order[np.linspace(0, len(order) - 1, half).astype(int)]
        chosen = ends[np.concatenate([spread, order[-half:]])]
        arrays[f"inputs_{steps}"] = scorer.windows(chosen, steps).numpy()
        arrays[f"outputs_{steps}"] = scorer.scores(chosen, steps)[:, None].astype(np.float32)
    return arrays


def evaluate(
    scorer: WindowScorer, target: np.ndarray, split: Split, recipe: Recipe, records: np.ndarray
) -> list:
    ends = np.asarray([end for end in split.test if end < len(target)])
    data = f"{recipe.source}, records {records[ends[0]]} to {records[ends[-1]]} (not seen)"
    values = scorer.values.numpy()
    train = np.asarray(split.train)
    model = evaluation.figures(target[ends], scorer.scores(ends, recipe.steps))
    baseline = evaluation.figures(
        target[ends], evaluation.baseline_scores(values[train], target[train], values[ends])
    )
    rows = [("base_rate", float(target[ends].mean()))]
    rows += list(model.items())
    rows += [(f"baseline_{name}", value) for name, value in baseline.items()]
    return [{"name": name, "data": data, "value": value} for name, value in rows]


def seen_stretches(records: np.ndarray, split: Split, recipe: Recipe) -> list[dict]:
    """Record ranges of training and validation, targets included."""
    reach = recipe.horizon_frames
    return [
        {
            "source": recipe.source,
            "part": part,
            "first_record": int(records[0 if part == "training" else frames.start]),
            "last_record": int(records[frames.stop - 1 + reach]),
        }
        for part, frames in (("training", split.train), ("validation", split.validation))
    ]


def train(
    recipe: Recipe, frames_path: pathlib.Path, catalogue: pathlib.Path, models: pathlib.Path
) -> None:
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(True)
    versions = package.catalogue_versions(catalogue)
    frames = load_frames(frames_path, recipe.features)
    target = burst_target(frames.mid_half_ticks, recipe.move_ticks, recipe.horizon_frames)
    split = split_in_time(len(frames.values), recipe)
    mean, scale = normalisation(frames.values[: split.train.stop])
    network = BurstNetwork(recipe, len(recipe.features))
    scorer = WindowScorer(network, normalised(frames.values, mean, scale, recipe.clip))
    print(
        f"{recipe.name}: {len(frames.values)} frames, base rate "
        f"{target[np.asarray(split.train)].mean():.4f} in training, "
        f"{target[np.asarray(split.validation)].mean():.4f} in validation"
    )
    fit(scorer, target, split, recipe)

    validation_scores = scorer.scores(np.asarray(split.validation), recipe.steps)
    threshold = np.float32(evaluation.threshold_for_rate(validation_scores, recipe.alert_rate))
    results = evaluate(scorer, target, split, recipe, frames.records)
    folder = models / recipe.name / str(recipe.version)
    folder.mkdir(parents=True, exist_ok=True)
    package.export_onnx(network, len(recipe.features), recipe.steps, folder / "model.onnx")
    np.savez_compressed(folder / "samples.npz", **samples(scorer, split, recipe))
    package.write_package_yaml(
        folder,
        recipe,
        {
            "mean": mean,
            "scale": scale,
            "threshold": threshold,
            "release_threshold": np.float32(threshold * np.float32(RELEASE_SHARE)),
            "alert_rate": float((validation_scores >= threshold).mean()),
            "seen": seen_stretches(frames.records, split, recipe),
            "evaluation": results,
            "versions": versions,
        },
    )
    for figure in results:
        print(f"{figure['name']}: {figure['value']:.4f}")
    print(f"{folder}: written; threshold {threshold:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("recipe", type=pathlib.Path)
    parser.add_argument("frames", type=pathlib.Path, help="CSV of `tocsin features export`")
    parser.add_argument(
        "--catalogue",
        type=pathlib.Path,
        required=True,
        help="JSON of `tocsin features list --json`",
    )
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path("models"))
    arguments = parser.parse_args()
    train(
        read_recipe(arguments.recipe), arguments.frames, arguments.catalogue, arguments.models
    )


if __name__ == "__main__":
    main()
