#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The BERT encoder of a folder in another library, for `wick bench embed`.

    embed_peer.py pytorch|onnxruntime|openvino FOLDER THREADS

It speaks by lines on the standard input and output:

    (start)                -> "ready NAME AND VERSION", or "missing WHAT" and the end
    tokens 101 7 102;101   -> "hidden BYTES", then the last hidden states of the real tokens as f32,
                              sentence after sentence; shorter ones are padded and masked
    run N                  -> "seconds S W": what N runs on those tokens took, and how long its
                              threads waited for a CPU meanwhile
    anything that fails    -> "error WHAT"

It ends when its input does.
"""
import json
import math
import os
import struct
import sys

from peer_lines import answer, choose_openblas_core, one_line, pin_threads, time_runs


def load_weights(folder, np):
    """The tensors of model.safetensors, and config.json."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    data = np.fromfile(os.path.join(folder, "model.safetensors"), dtype=np.uint8)
    (size,) = struct.unpack("<Q", data[:8].tobytes())
    weights = {}
    for name, info in json.loads(data[8:8 + size].tobytes()).items():
        if info.get("dtype") == "F32":
            begin, end = info["data_offsets"]
            values = data[8 + size + begin:8 + size + end].view(np.float32)
            weights[name] = values.reshape(info["shape"])
    return config, weights


class Names:
    """The weights by what they are, the three of the attention's input side by side."""

    def __init__(self, weights, np):
        self.weights, self.np = weights, np

    def pair(self, name):
        return self.weights[name + ".weight"], self.weights[name + ".bias"]

    def layer(self, i):
        """(weight, bias) of the products, weights as [out, in], and of the norms."""
        start = f"encoder.layer.{i}."
        parts = [self.pair(start + "attention.self." + n) for n in ("query", "key", "value")]
        return {"qkv": tuple(self.np.concatenate(p) for p in zip(*parts)),
                "out": self.pair(start + "attention.output.dense"),
                "up": self.pair(start + "intermediate.dense"),
                "down": self.pair(start + "output.dense"),
                "norm1": self.pair(start + "attention.output.LayerNorm"),
                "norm2": self.pair(start + "output.LayerNorm")}


class PyTorch:
    """torch's own functions on plain tensors."""

    # OpenMP's threads and those of the BLAS wait for each other's CPUs, whatever else runs.
    waits_for_others = False

    def __init__(self, folder, threads):
        # Where the BLAS has threads of its own, two pools that wait busily hold each other up: with
        # this it is several times as fast.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import numpy as np
        import torch
        self.np, self.torch = np, torch
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.version = f"torch {torch.__version__.split('+')[0]}"
        self.config, weights = load_weights(folder, np)
        names = Names(weights, np)
        tensor = lambda array: torch.from_numpy(np.ascontiguousarray(array))
        pair = lambda p: tuple(tensor(x) for x in p)
        self.words = tensor(weights["embeddings.word_embeddings.weight"])
        self.positions = tensor(weights["embeddings.position_embeddings.weight"] +
                                weights["embeddings.token_type_embeddings.weight"][0])
        self.norm = pair(names.pair("embeddings.LayerNorm"))
        self.layers = [{k: pair(v) for k, v in names.layer(i).items()}
                       for i in range(self.config["num_hidden_layers"])]

    def set_tokens(self, ids, lengths):
        self.ids = self.torch.from_numpy(ids)
        self.mask = None
        if min(lengths) < ids.shape[1]:
            there = self.np.arange(ids.shape[1])[None, :] < self.np.array(lengths)[:, None]
            mask = self.np.where(there, 0, -1e9).astype(self.np.float32)
            self.mask = self.torch.from_numpy(mask)[:, None, None, :]

    def attend(self, q, k, v):
        functional = self.torch.nn.functional
        if hasattr(functional, "scaled_dot_product_attention"):
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
        if self.mask is not None:
            scores += self.mask
        return scores.softmax(-1) @ v

    def run(self):
        f = self.torch.nn.functional
        hidden, eps = self.config["hidden_size"], self.config["layer_norm_eps"]
        heads = self.config["num_attention_heads"]
        count, length = self.ids.shape
        with self.torch.inference_mode():
            x = f.embedding(self.ids, self.words) + self.positions[:length]
            x = f.layer_norm(x, (hidden,), *self.norm, eps)
            for w in self.layers:
                qkv = f.linear(x, *w["qkv"]).view(count, length, 3, heads, hidden // heads)
                q, k, v = qkv.permute(2, 0, 3, 1, 4)
                attended = self.attend(q, k, v).transpose(1, 2).reshape(count, length, hidden)
                x = f.layer_norm(x + f.linear(attended, *w["out"]), (hidden,), *w["norm1"], eps)
                y = f.linear(f.gelu(f.linear(x, *w["up"])), *w["down"])
                x = f.layer_norm(x + y, (hidden,), *w["norm2"], eps)
        return x

    def hidden(self):
        return self.run().numpy()


class OnnxRuntime:
    """A graph of the fused operators that onnxruntime's own optimiser makes of a BERT encoder."""

    waits_for_others = True

    def __init__(self, folder, threads):
        import numpy as np
        import onnxruntime
        import onnx
        self.np, self.threads, self.library, self.onnx = np, threads, onnxruntime, onnx
        self.version = f"onnxruntime {onnxruntime.__version__}"
        self.config, self.weights = load_weights(folder, np)
        self.sessions = {}
        self.cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

    def graph(self, masked):
        helper, np = self.onnx.helper, self.np
        names, hidden = Names(self.weights, np), self.config["hidden_size"]
        nodes, constants = [], []

        def constant(name, array):
            constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
            return name

        def node(kind, inputs, out, domain="", **attributes):
            nodes.append(helper.make_node(kind, inputs, [out], out, domain=domain, **attributes))
            return out

        fused = {"domain": "com.microsoft"}
        eps = self.config["layer_norm_eps"]
        pair = lambda name, p: [constant(name + ".weight", p[0]), constant(name + ".bias", p[1])]
        words = constant("words", self.weights["embeddings.word_embeddings.weight"])
        positions = constant("positions", self.weights["embeddings.position_embeddings.weight"] +
                             self.weights["embeddings.token_type_embeddings.weight"][0])
        here = node("Gather", [positions, "places"], "here")
        x = node("Add", [node("Gather", [words, "ids"], "looked_up"), here], "embedded")
        x = node("LayerNormalization", [x, *pair("norm", names.pair("embeddings.LayerNorm"))],
                 "first", axis=-1, epsilon=eps)
        for i in range(self.config["num_hidden_layers"]):
            w, at = names.layer(i), f"{i}."
            weight = {k: constant(at + k + ".w", w[k][0].T) for k in ("qkv", "out", "up", "down")}
            bias = {k: constant(at + k + ".b", w[k][1]) for k in weight}
            inputs = [x, weight["qkv"], bias["qkv"]] + (["lengths"] if masked else [])
            y = node("Attention", inputs, at + "attention", **fused,
                     num_heads=self.config["num_attention_heads"])
            y = node("MatMul", [y, weight["out"]], at + "attention.out")
            x = node("SkipLayerNormalization", [y, x, *pair(at + "norm1", w["norm1"]), bias["out"]],
                     at + "middle", epsilon=eps, **fused)
            y = node("MatMul", [x, weight["up"]], at + "up")
            y = node("BiasGelu", [y, bias["up"]], at + "gelu", **fused)
            y = node("MatMul", [y, weight["down"]], at + "down")
            x = node("SkipLayerNormalization",
                     [y, x, *pair(at + "norm2", w["norm2"]), bias["down"]], at + "out",
                     epsilon=eps, **fused)
        kind = self.onnx.TensorProto
        inputs = [helper.make_tensor_value_info("ids", kind.INT64, ["count", "length"]),
                  helper.make_tensor_value_info("places", kind.INT64, ["length"])]
        if masked:
            inputs.append(helper.make_tensor_value_info("lengths", kind.INT32, ["count"]))
        outputs = [helper.make_tensor_value_info(x, kind.FLOAT, ["count", "length", hidden])]
        graph = helper.make_graph(nodes, "bert", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()

    def session(self, masked):
        if masked not in self.sessions:
            options = self.library.SessionOptions()
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            options.graph_optimization_level = self.library.GraphOptimizationLevel.ORT_ENABLE_ALL
            # They spin while a run lasts, not after it.
            options.add_session_config_entry("session.force_spinning_stop", "1")
            options.log_severity_level = 3
            self.sessions[masked] = self.library.InferenceSession(
                self.graph(masked), options, providers=["CPUExecutionProvider"])
            pin_threads(self.cpus)  # PyTorch's two pools are faster without
        return self.sessions[masked]

    def set_tokens(self, ids, lengths):
        self.inputs = {"ids": ids, "places": self.np.arange(ids.shape[1], dtype=self.np.int64)}
        masked = min(lengths) < ids.shape[1]
        if masked:
            self.inputs["lengths"] = self.np.array(lengths, dtype=self.np.int32)
        self.current = self.session(masked)

    def run(self):
        return self.current.run(None, self.inputs)[0]

    def hidden(self):
        return self.run()


class OpenVino(OnnxRuntime):
    """The same graph, compiled by OpenVINO for f32."""

    # oneTBB's threads, which are pinned by OpenVINO itself.
    waits_for_others = False

    def __init__(self, folder, threads):
        import numpy as np
        import onnx
        import openvino
        self.np, self.threads, self.library, self.onnx = np, threads, openvino, onnx
        self.version = f"openvino {openvino.__version__.split('-')[0]}"
        self.config, self.weights = load_weights(folder, np)
        self.sessions = {}

    def session(self, masked):
        if masked not in self.sessions:
            core = self.library.Core()
            model = core.read_model(self.graph(masked))
            self.sessions[masked] = core.compile_model(model, "CPU", {
                "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY",
                "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(self.threads)
            }).create_infer_request()
        return self.sessions[masked]

    def run(self):
        return self.current.infer(self.inputs, share_inputs=True, share_outputs=True)[0]


LIBRARIES = {"pytorch": PyTorch, "onnxruntime": OnnxRuntime, "openvino": OpenVino}


def set_tokens(peer, text):
    sentences = [[int(t) for t in s.split()] for s in text.split(";")]
    lengths = [len(s) for s in sentences]
    ids = peer.np.zeros((len(sentences), max(lengths)), dtype=peer.np.int64)
    for row, sentence in zip(ids, sentences):
        row[:len(sentence)] = sentence
    peer.set_tokens(ids, lengths)
    hidden = peer.hidden()
    real = peer.np.concatenate([h[:n] for h, n in zip(hidden, lengths)]).astype("<f4").tobytes()
    answer(f"hidden {len(real)}")
    sys.stdout.buffer.write(real)
    sys.stdout.buffer.flush()


def serve(peer):
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        try:
            if command == "tokens":
                set_tokens(peer, rest)
            elif command == "run":
                time_runs(peer.run, int(rest), peer.waits_for_others)
            else:
                answer(f"error unknown command {command}")
        except Exception as e:  # whatever the library throws
            answer("error " + one_line(e))


def main():
    choose_openblas_core()
    engine, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        peer = LIBRARIES[engine](folder, threads)
    except ImportError as e:
        answer(f"missing {e.name or e} ({sys.executable} has no such module)")
        return
    except Exception as e:
        answer("missing " + one_line(f"{type(e).__name__}: {e}"))
        return
    answer("ready " + peer.version)
    serve(peer)


if __name__ == "__main__":
    main()
