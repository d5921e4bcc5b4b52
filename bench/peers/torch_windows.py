#!/usr/bin/env python3
"""cuDNN through PyTorch on the recurrent reference models, host to host in a CUDA graph.

    bench/peers/torch_windows.py lstm_attn.onnx --seconds 2

Knows lstm_attn.onnx and gru60.onnx by their names: the layers are built with random weights of the
same shapes, for time does not depend on them. Prints JSON.
"""

import argparse
import json
import pathlib
import statistics
import time

import torch


class LstmAttention(torch.nn.Module):
    """An LSTM of 128 units, additive attention over its states, a softmax of three."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(64, 128, batch_first=True)
        self.attention = torch.nn.Linear(128, 128)
        self.score = torch.nn.Linear(128, 1, bias=False)
        self.head = torch.nn.Linear(128, 3)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(windows)
        weights = torch.softmax(self.score(torch.tanh(self.attention(states))), dim=1)
        return torch.softmax(self.head((weights * states).sum(dim=1)), dim=-1)


class Gru(torch.nn.Module):
    """A GRU of 128 units and a softmax of two on its last state."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = torch.nn.GRU(64, 128, batch_first=True)
        self.head = torch.nn.Linear(128, 2)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        states, _ = self.gru(windows)
        return torch.softmax(self.head(states[:, -1]), dim=-1)


MODELS = {"lstm_attn.onnx": (LstmAttention, 128), "gru60.onnx": (Gru, 60)}


def measure(model: torch.nn.Module, steps: int, batch: int, seconds: float) -> dict:
    dtype = next(model.parameters()).dtype
    host = torch.randn(batch, steps, 64, dtype=dtype).pin_memory()
    device = host.cuda()
    with torch.no_grad():
        for _ in range(3):
            answer = model(device)
        result = torch.empty(answer.shape, dtype=dtype).pin_memory()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            device.copy_(host, non_blocking=True)
            result.copy_(model(device), non_blocking=True)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 20:
        before = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - before) * 1e6)
    times = sorted(times[len(times) // 10:])
    return {"batch": batch, "precision": str(dtype).rsplit(".", maxsplit=1)[-1],
            "p50_us": statistics.median(times), "p99_us": times[int(len(times) * 0.99)]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="lstm_attn.onnx or gru60.onnx")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    arguments = parser.parse_args()
    name = pathlib.Path(arguments.model).name
    kind, steps = MODELS[name]
    rows = []
    for dtype in (torch.float16, torch.float32):
        model = kind().to("cuda", dtype).eval()
        for batch in (1, 32, 256, 1024):
            rows.append(measure(model, steps, batch, arguments.seconds))
    print(json.dumps({"model": name, "torch": torch.__version__,
                      "cudnn": torch.backends.cudnn.version(), "rows": rows}))


if __name__ == "__main__":
    main()
