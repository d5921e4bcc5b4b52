#!/usr/bin/env python3
"""Makes the engines' fixtures: small PyTorch exports, and outputs of ONNX Runtime for them and for
the models of the data folder. Needs torch, onnx, onnxruntime and numpy; the results are committed.

usage: make_fixtures.py DATA_FOLDER    (the folder that holds onnx_models/)

Inputs follow a formula, only outputs are stored: x[i] = float32((i * 7919) mod 2003 - 1001) / 500.
expected_outputs.txt has one line a run: model file, batch, steps, number of values, the values.
"""

import pathlib
import sys

import numpy as np
import onnxruntime
import torch
from torch import nn

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "data" / "engines"


class Recurrent(nn.Module):
    def __init__(self, kind, features, units, layers, bidirectional=False):
        super().__init__()
        self.rnn = kind(features, units, layers, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(units * (2 if bidirectional else 1), 1)

    def forward(self, x):
        y, _ = self.rnn(x)
        return torch.sigmoid(self.head(y[:, -1]))


class Encoder(nn.Module):
    """Pre-norm encoder layer written out, as its fused form does not export with free axes."""

    def __init__(self, features=8, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.width = width
        self.inp = nn.Linear(features, width)
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 24), nn.GELU(), nn.Linear(24, width))
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.inp(x)
        batch, steps = x.shape[0], x.shape[1]
        split = (batch, steps, self.heads, self.width // self.heads)
        q, k, v = (part.reshape(split).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, steps, self.width))
        x = x + self.feed(x)
        return torch.softmax(self.head(x.mean(dim=1)), dim=-1)


class Convolutional(nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(features, 12, 3, padding=2, dilation=2), nn.BatchNorm1d(12),
            nn.LeakyReLU(0.1), nn.MaxPool1d(2), nn.Conv1d(12, 8, 3, groups=2), nn.ELU(),
            nn.AvgPool1d(3, stride=2))
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return torch.sigmoid(self.head(self.body(x.transpose(1, 2)).amax(dim=2)))


def formula(shape):
    index = np.arange(int(np.prod(shape)), dtype=np.int64)
    values = ((index * 7919) % 2003 - 1001).astype(np.float32) / np.float32(500)
    return values.reshape(shape)


def export(name, module):
    torch.manual_seed(1)
    module = module().eval()
    for item in module.modules():
        if isinstance(item, nn.BatchNorm1d):
            item.running_mean.uniform_(-1, 1)
            item.running_var.uniform_(0.5, 2)
    torch.onnx.export(module, torch.randn(2, 12, 8), str(FIXTURES / name), dynamo=False,
                      opset_version=17, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "batch", 1: "time"}, "y": {0: "batch"}})


def expected(path, label, batch, steps):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    spec = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else (batch if i == 0 else steps)
             for i, size in enumerate(spec.shape)]
    values = session.run(None, {spec.name: formula(shape)})[0].ravel()
    numbers = [str(n) for n in (batch, steps, values.size)] + [f"{v:.9g}" for v in values]
    return " ".join([label] + numbers)


def main():
    FIXTURES.mkdir(parents=True, exist_ok=True)
    models = {
        "lstm_2x16.onnx": lambda: Recurrent(nn.LSTM, 8, 16, 2),
        "gru_1x20.onnx": lambda: Recurrent(nn.GRU, 8, 20, 1),
        "lstm_both_ways.onnx": lambda: Recurrent(nn.LSTM, 8, 6, 2, bidirectional=True),
        "rnn_1x10.onnx": lambda: Recurrent(nn.RNN, 8, 10, 1),
        "encoder.onnx": Encoder,
        "convolutional.onnx": Convolutional,
    }
    lines = []
    for name, module in models.items():
        export(name, module)
        for batch, steps in ((1, 12), (3, 12), (2, 40)):
            lines.append(expected(FIXTURES / name, name, batch, steps))
    data = pathlib.Path(sys.argv[1])
    for name in ("reference/gru60", "reference/lstm_attn", "reference/transformer60",
                 "neustack_anomaly_detector", "neustack_bandwidth_predictor"):
        path = f"onnx_models/{name}.onnx"
        for batch in (1, 3):
            lines.append(expected(data / path, path, batch, 0))
    for name in ("deeplob_b1_1x100x40", "quant_sentinel_attention"):
        path = f"onnx_models/{name}.onnx"
        lines.append(expected(data / path, path, 1, 0))
    (FIXTURES / "expected_outputs.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
