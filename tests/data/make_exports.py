#!/usr/bin/env python3
"""Makes the models of tests/data/engines/exports as exporters in use write them, with ONNX
Runtime's outputs; tests never run this. Each exporter has an environment of its own:

usage: make_exports.py sklearn    needs scikit-learn, skl2onnx, onnxruntime
       make_exports.py torch      needs torch, onnxscript, onnxruntime

outputs_<kind>.txt has one line a run: model, batch, steps, number of outputs, then of each output
its shape as NxM ("-" for a scalar) and its values. Inputs follow a formula: of floats,
x[i] = ((i * 7919) mod 2003 - 1001) / 500; a mask is true in the last b steps of row b. Labels that
are texts are written as their place among the model's classes, a list of maps as a matrix.
"""

import pathlib
import sys

import numpy as np
import onnx

FOLDER = pathlib.Path(__file__).resolve().parent / "engines" / "exports"
FEATURES = 6
STEPS = 12


def formula(shape):
    index = np.arange(int(np.prod(shape)), dtype=np.int64)
    values = ((index * 7919) % 2003 - 1001).astype(np.float32) / np.float32(500)
    return values.reshape(shape)


def last_steps(shape):
    rows, steps = np.indices(shape)
    return steps >= shape[1] - rows


def write_model(name, model):
    """Without the exporter's notes on where it was made."""
    del model.metadata_props[:], model.graph.metadata_props[:], model.graph.value_info[:]
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for value in list(model.graph.input) + list(model.graph.output):
        del value.metadata_props[:]
    for tensor in model.graph.initializer:
        del tensor.metadata_props[:]
    path = FOLDER / (name + ".onnx")
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def as_array(output, classes):
    if isinstance(output, list):  # of maps from class to probability
        return np.array([[row[label] for label in row] for row in output])
    if output.dtype == object:
        return np.array([classes.index(text) for text in output.ravel()]).reshape(output.shape)
    return output


def run_lines(name, path, batches, classes=(), module=None):
    """`module` stands in where ONNX Runtime lacks something: masks that broadcast in Attention."""
    import onnxruntime
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    lines = []
    for batch in batches:
        inputs = {}
        for spec in session.get_inputs():
            shape = [batch, STEPS, FEATURES][:len(spec.shape)]
            if len(spec.shape) == 2 and spec.type == "tensor(float)":
                shape = [batch, FEATURES]
            inputs[spec.name] = (last_steps(shape) if spec.type == "tensor(bool)"
                                 else formula(shape))
        try:
            outputs = [as_array(o, list(classes)) for o in session.run(None, inputs)]
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
            import torch
            with torch.no_grad():
                outputs = [module(*map(torch.from_numpy, inputs.values())).numpy()]
        fields = [name, str(batch), str(STEPS), str(len(outputs))]
        for output in outputs:
            fields.append("x".join(map(str, output.shape)) or "-")
            fields += [f"{value:.9g}" for value in output.ravel()]
        lines.append(" ".join(fields))
    return lines


def make_sklearn():
    from sklearn.datasets import make_classification
    from sklearn.decomposition import PCA
    from sklearn.ensemble import (AdaBoostClassifier, ExtraTreesRegressor,
                                  GradientBoostingClassifier, GradientBoostingRegressor,
                                  IsolationForest, RandomForestClassifier)
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, Normalizer, RobustScaler, StandardScaler
    from skl2onnx import to_onnx

    x, classes = make_classification(300, FEATURES, n_informative=4, n_classes=3, random_state=1)
    x = x.astype(np.float32)
    two = (classes > 0).astype(int)
    texts = np.array(["burst", "calm", "halt"])[classes]
    small = dict(random_state=1)
    mlp = dict(hidden_layer_sizes=(8,), max_iter=80, random_state=1)
    cases = {
        "scaler_logistic": (make_pipeline(StandardScaler(), LogisticRegression()), two),
        "scaler_logistic_texts": (make_pipeline(StandardScaler(), LogisticRegression()), texts),
        "gradient_boosting": (GradientBoostingClassifier(n_estimators=6, **small), two),
        "gradient_boosting_texts": (
            GradientBoostingClassifier(n_estimators=3, max_depth=2, **small), texts),
        "random_forest": (RandomForestClassifier(5, max_depth=4, **small), classes * 7),
        "random_forest_texts": (RandomForestClassifier(4, max_depth=3, **small), texts),
        "mlp": (make_pipeline(StandardScaler(), MLPClassifier(**mlp)), classes * 3),
        "mlp_binary": (make_pipeline(MinMaxScaler(), MLPClassifier(**mlp)), two),
        "mlp_texts": (make_pipeline(MinMaxScaler(), MLPClassifier(**mlp)), texts),
        "mlp_regressor": (make_pipeline(RobustScaler(), MLPRegressor(**mlp)), x[:, 0]),
        "boosted_regressor": (GradientBoostingRegressor(n_estimators=5, **small), x[:, 0]),
        "extra_trees_regressor": (ExtraTreesRegressor(3, max_depth=3, **small), x[:, 1]),
        "isolation_forest": (IsolationForest(n_estimators=4, max_samples=16, **small), None),
        "imputer_pca": (make_pipeline(SimpleImputer(), Normalizer(), PCA(3),
                                      LogisticRegression()), two),
        "stochastic_gradient": (SGDClassifier(loss="log_loss", **small), two),
        "ada_boost": (AdaBoostClassifier(n_estimators=3, **small), two),
    }
    lines = []
    for name, (model, target) in cases.items():
        model.fit(x, target)
        exported = to_onnx(model, x[:1], target_opset={"": 17, "ai.onnx.ml": 3})
        path = write_model("skl_" + name, exported)
        labels = sorted(set(target)) if target is texts else ()
        lines += run_lines("skl_" + name, path, (1, 4), labels)
    return lines


def sample_inputs():
    import torch
    return (torch.from_numpy(formula((2, STEPS, FEATURES))),
            torch.from_numpy(last_steps((2, STEPS))))


# Of each case: module, inputs, and the opsets of the old exporter and of dynamo.
def recurrent_cases():
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self, kind, both=False):
            super().__init__()
            self.cell = kind(FEATURES, 5, 2, batch_first=True, bidirectional=both)
            self.head = nn.Linear(10 if both else 5, 1)

        def forward(self, x):
            return torch.sigmoid(self.head(self.cell(x)[0][:, -1]))

    class AttentionPool(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTM(FEATURES, 5, batch_first=True)
            self.score = nn.Linear(5, 1)
            self.head = nn.Linear(5, 1)

        def forward(self, x, mask=None):
            y, _ = self.cell(x)
            scores = self.score(torch.tanh(y)).squeeze(-1)
            if mask is not None:
                scores = scores.masked_fill(mask, float("-inf"))
            weights = torch.softmax(scores, 1)
            return torch.sigmoid(self.head((weights.unsqueeze(-1) * y).sum(1)))

    class Halves(nn.Module):
        """Weights and products in FP16 between float inputs and outputs."""

        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 1)).half()

        def forward(self, x):
            return torch.sigmoid(self.body(x.half()).float()).mean(1)

    x, mask = sample_inputs()
    return {
        "lstm": (Recurrent(nn.LSTM), (x,), (17,), (18,)),
        "lstm_both_ways": (Recurrent(nn.LSTM, True), (x,), (17,), (18,)),
        "gru": (Recurrent(nn.GRU), (x,), (11, 17), (23,)),
        "rnn": (Recurrent(nn.RNN), (x,), (), (18,)),
        "attention_pool": (AttentionPool(), (x,), (17,), (18,)),
        "attention_pool_masked": (AttentionPool(), (x, mask), (17,), (18, 23)),
        "halves": (Halves(), (x,), (17,), (18,)),
    }


def attention_cases():
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self, is_causal=False):
            super().__init__()
            self.inp = nn.Linear(FEATURES, 8)
            layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True,
                                               activation="gelu")
            self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(8, 2)
            self.place = nn.Parameter(torch.randn(1, 64, 8))
            self.is_causal = is_causal

        def forward(self, x, mask=None):
            causal = None
            if self.is_causal:
                causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            h = self.inp(x) + self.place[:, :x.shape[1]]
            h = self.body(h, mask=causal, src_key_padding_mask=mask)
            return torch.softmax(self.head(h.mean(1)), -1)

    class CausalAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(FEATURES, 24)
            self.head = nn.Linear(8, 1)

        def forward(self, x):
            q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2)
                       for part in self.qkv(x).chunk(3, -1))
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.head(y.transpose(1, 2).flatten(2)[:, -1])

    class Einsums(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(FEATURES, 2, 4))

        def forward(self, x):
            heads = torch.einsum("btf,fhd->bhtd", x, self.w)
            scores = torch.einsum("bhtd,bhsd->bhts", heads, heads) / 4
            y = torch.einsum("bhts,bhsd->bthd", torch.softmax(scores, -1), heads)
            return y.mean(1).flatten(1)

    x, mask = sample_inputs()
    return {
        "encoder": (Encoder(), (x,), (17,), (18, 23)),
        "encoder_masked": (Encoder(), (x, mask), (17,), (18, 23)),
        "encoder_causal": (Encoder(True), (x,), (17,), ()),
        "causal_attention": (CausalAttention(), (x,), (17,), (18, 23)),
        "einsums": (Einsums(), (x,), (17,), (18,)),
    }


def make_torch():
    import io

    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    lines = []
    cases = recurrent_cases() | attention_cases()
    for name, (module, inputs, old_opsets, dynamo_opsets) in cases.items():
        module.eval()
        names = ["x", "mask"][:len(inputs)]
        batch = torch.export.Dim("batch", min=1, max=64)
        time = torch.export.Dim("time", min=2, max=64)
        for opset in old_opsets:
            data = io.BytesIO()
            torch.onnx.export(module, inputs, data, dynamo=False, opset_version=opset,
                              input_names=names, output_names=["y"],
                              dynamic_axes={n: {0: "batch", 1: "time"} for n in names}
                              | {"y": {0: "batch"}})
            full_name = f"torch_{name}_{opset}"
            path = write_model(full_name, onnx.load_from_string(data.getvalue()))
            lines += run_lines(full_name, path, (1, 3), module=module)
        for opset in dynamo_opsets:
            program = torch.onnx.export(module, inputs, None, dynamo=True, opset_version=opset,
                                        input_names=names, output_names=["y"], verbose=False,
                                        dynamic_shapes=tuple({0: batch, 1: time} for _ in names))
            full_name = f"dynamo_{name}_{opset}"
            path = write_model(full_name, program.model_proto)
            lines += run_lines(full_name, path, (1, 3), module=module)
    return lines


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    kind = sys.argv[1]
    made = {"sklearn": make_sklearn, "torch": make_torch}[kind]()
    (FOLDER / f"outputs_{kind}.txt").write_text("\n".join(made) + "\n")
