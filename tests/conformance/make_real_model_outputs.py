#!/usr/bin/env python3
"""Writes what ONNX Runtime makes of the models of the data folder, for real_model_test.cc. Needs
onnxruntime and numpy; the result is committed.

usage: make_real_model_outputs.py DATA_FOLDER    (the folder that holds onnx_models/)

Inputs are random, from SplitMix64 of the seed and the index: value[i] = scale * (u / 2^23 - 1),
where u is the upper 24 bits; only outputs are stored. One line a run: model, batch, seed, number of
outputs, then for each output its name, shape as NxM, and the values.
"""

import pathlib
import sys

import numpy as np
import onnxruntime

FIXTURE = pathlib.Path(__file__).resolve().parent.parent / "data/engines/real_model_outputs.txt"
# Model: scale of its float inputs, steps of its free time axis, batches.
MODELS = {
    "deeplob_b1_1x100x40": (4, 0, (1,)),
    "fraud_tree_14f": (64, 0, (1, 5)),
    "neustack_anomaly_detector": (1, 0, (1, 3)),
    "neustack_bandwidth_predictor": (1, 0, (1, 3)),
    "quant_sentinel_attention": (1, 0, (1,)),
    "quant_sentinel_lstm": (1, 0, (1,)),
    "quant_sentinel_xgb": (2, 0, (1, 5)),
    "silero_vad_16k_op15": (0.25, 576, (1, 2)),
    "reference/gru60": (1, 0, (1, 3)),
    "reference/lstm_attn": (1, 0, (1, 3)),
    "reference/transformer60": (1, 0, (1, 3)),
}


def random_values(seed, count, scale):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + (
            np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    unit = (z >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1.0
    return (unit * scale).astype(np.float32)


def feed(spec, first_names, run):
    batch, seed, scale, steps = run
    if spec.type == "tensor(int64)":  # silero's sampling rate
        return np.array(16000, np.int64)
    shape = [size if isinstance(size, int) else
             (batch if i == 0 or size in first_names else steps)
             for i, size in enumerate(spec.shape)]
    return random_values(seed, int(np.prod(shape)), scale).reshape(shape)


def main():
    lines = []
    for name, (scale, steps, batches) in MODELS.items():
        path = f"onnx_models/{name}.onnx"
        session = onnxruntime.InferenceSession(str(pathlib.Path(sys.argv[1]) / path),
                                               providers=["CPUExecutionProvider"])
        first_names = {spec.shape[0] for spec in session.get_inputs()
                       if spec.shape and isinstance(spec.shape[0], str)}
        for batch in batches:
            for seed in (1, 2, 3):
                inputs = {spec.name: feed(spec, first_names, (batch, seed * 100 + i, scale, steps))
                          for i, spec in enumerate(session.get_inputs())}
                fields = [path, str(batch), str(seed), str(scale), str(steps)]
                outputs = session.run(None, inputs)
                fields.append(str(len(outputs)))
                for spec, values in zip(session.get_outputs(), outputs):
                    fields += [spec.name, "x".join(map(str, values.shape))]
                    fields += [f"{v:.9g}" for v in values.ravel()]
                lines.append(" ".join(fields))
    FIXTURE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
