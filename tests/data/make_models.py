#!/usr/bin/env python3
"""Makes the small models of tests/data/models, which are committed: tests never run this.

Needs torch, onnx and numpy (an environment for training has them). Writes beside itself, the same
bytes at every run with the same versions: weights come from a fixed seed, archives carry no time.
Expected outputs of the samples are PyTorch's in FP32, so an engine is compared with another
implementation, not with itself.
"""

import io
import pathlib
import zipfile

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "models"
OPSET = 17
SEED = 20261130


def write_model(path, graph_or_model):
    """Checks and writes a model, without the exporter's notes on where it was made."""
    model = graph_or_model
    if isinstance(model, onnx.GraphProto):
        model = helper.make_model(model, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    for node in model.graph.node:
        node.doc_string = ""
    model.doc_string = ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_samples(path, arrays):
    """numpy.savez_compressed with a fixed date, so that the bytes are the same at every run."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, np.ascontiguousarray(array, dtype="<f4"))
            entry = zipfile.ZipInfo(name + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, data.getvalue(), zipfile.ZIP_DEFLATED)


class BurstLstm(torch.nn.Module):
    """One LSTM layer of 6 units over 3 features, a dense layer on the last step, a sigmoid."""

    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 6, batch_first=True)
        self.head = torch.nn.Linear(6, 1)

    def forward(self, x):
        states, _ = self.lstm(x)
        return torch.sigmoid(self.head(states[:, -1, :]))


class CalmGru(torch.nn.Module):
    """One GRU layer of 4 units over 2 features, softmax over 2 classes."""

    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        states, _ = self.gru(x)
        return torch.softmax(self.head(states[:, -1, :]), dim=-1)


def export(module, path, example, dynamic_axes):
    data = io.BytesIO()
    torch.onnx.export(module, (example,), data, dynamo=False, opset_version=OPSET,
                      input_names=["x"], output_names=["p"], dynamic_axes=dynamic_axes)
    write_model(path, onnx.load_from_string(data.getvalue()))


def samples_of(module, lengths, feature_count, rng):
    arrays = {}
    for steps in lengths:
        inputs = rng.standard_normal((3, steps, feature_count)).astype(np.float32)
        with torch.no_grad():
            arrays[f"inputs_{steps}"] = inputs
            arrays[f"outputs_{steps}"] = module(torch.from_numpy(inputs)).numpy()
    return arrays


def make_bad_samples(good):
    """Samples of burst_lstm with one fault each."""
    def write(name, **changes):
        path = FOLDER / name / "samples.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_samples(path, good | changes)

    inputs, outputs = good["inputs_30"].copy(), good["outputs_30"].copy()
    inputs[2, 7, 1] = np.nan
    write("bad_samples_nan", inputs_30=inputs)
    outputs[1, 0] = np.inf
    write("bad_samples_infinite", outputs_30=outputs)
    outputs[:, 0] = 1.5
    write("bad_samples_range", outputs_30=outputs)
    write("bad_samples_count", outputs_30=good["outputs_30"][:2])


def write_broken(model, name, is_chosen):
    """Writes the model with one NaN in the first float weights that are chosen."""
    for initializer in model.graph.initializer:
        weights = numpy_helper.to_array(initializer).copy()
        if weights.dtype == np.float32 and is_chosen(weights):
            weights.flat[0] = np.nan
            initializer.CopyFrom(numpy_helper.from_array(weights, initializer.name))
            write_model(FOLDER / name / "model.onnx", model)
            return
    raise SystemExit(f"no weights found for {name}")


def make_window_models():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)

    lstm = BurstLstm().eval()
    with torch.no_grad():
        lstm.head.weight *= 8  # spreads the scores over (0, 1)
    free = {"x": {0: "batch", 1: "steps"}, "p": {0: "batch"}}
    path = FOLDER / "burst_lstm" / "model.onnx"
    export(lstm, path, torch.zeros(1, 30, 3), free)
    write_samples(path.with_name("samples.npz"), samples_of(lstm, (30, 60, 120), 3, rng))

    make_bad_samples(samples_of(lstm, (30,), 3, rng))

    write_broken(onnx.load(path), "nan_weights", lambda weights: weights.shape == (1, 6))
    write_broken(onnx.load(path), "nan_recurrent_weights", lambda weights: weights.ndim == 3)

    gru = CalmGru().eval()
    path = FOLDER / "calm_gru" / "model.onnx"
    export(gru, path, torch.zeros(1, 20, 2), {})
    write_samples(path.with_name("samples.npz"), samples_of(gru, (20,), 2, rng))


def tensor(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def make_seam_models():
    """Graphs of one or two nodes for what an engine does around the arithmetic."""
    two = numpy_helper.from_array(np.float32(2.0), "two")
    one = numpy_helper.from_array(np.float32(1.0), "one")
    shape = ["batch", "steps", 2]
    write_model(FOLDER / "double_plus_one.onnx", helper.make_graph(
        [helper.make_node("Mul", ["x", "two"], ["doubled"], "double"),
         helper.make_node("Add", ["doubled", "one"], ["y"], "plus_one")],
        "double_plus_one", [tensor("x", TensorProto.FLOAT, shape)],
        [tensor("y", TensorProto.FLOAT, shape)], [two, one]))

    types = {"f": TensorProto.FLOAT, "d": TensorProto.DOUBLE, "l": TensorProto.INT64,
             "i": TensorProto.INT32, "b": TensorProto.BOOL}
    write_model(FOLDER / "all_types.onnx", helper.make_graph(
        [helper.make_node("Identity", [name], [name + "_out"], "copy_" + name) for name in types],
        "all_types", [tensor(name, element, ["n"]) for name, element in types.items()],
        [tensor(name + "_out", element, ["n"]) for name, element in types.items()]))

    write_model(FOLDER / "gather.onnx", helper.make_graph(
        [helper.make_node("Gather", ["x", "index"], ["y"], "pick")], "gather",
        [tensor("x", TensorProto.FLOAT, [4]), tensor("index", TensorProto.INT64, [1])],
        [tensor("y", TensorProto.FLOAT, [1])]))

    write_model(FOLDER / "half_input.onnx", helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"], "copy")], "half_input",
        [tensor("x", TensorProto.FLOAT16, [2])], [tensor("y", TensorProto.FLOAT16, [2])]))

    sequence = helper.make_value_info(
        "y", helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2])))
    write_model(FOLDER / "sequence_output.onnx", helper.make_graph(
        [helper.make_node("SequenceConstruct", ["x"], ["y"], "wrap")], "sequence_output",
        [tensor("x", TensorProto.FLOAT, [2])], [sequence]))

    unknown = helper.make_graph(
        [helper.make_node("Frobnicate", ["x"], ["y"], "the_odd_one", domain="example.tocsin")],
        "unknown_operator", [tensor("x", TensorProto.FLOAT, [2])],
        [tensor("y", TensorProto.FLOAT, [2])])
    write_model(FOLDER / "unknown_operator.onnx", helper.make_model(unknown, opset_imports=[
        helper.make_opsetid("", OPSET), helper.make_opsetid("example.tocsin", 1)]))


if __name__ == "__main__":
    make_window_models()
    make_seam_models()
