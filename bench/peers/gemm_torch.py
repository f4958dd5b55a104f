#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's products for `wick bench gemm`.

    gemm_torch.py pytorch THREADS

It speaks as bench/peers/gemm_peer.h describes. Results go into a tensor that is there already; a
single row or column is multiplied by mv, a batch by bmm.
"""
import os
import sys
import time

from peer_lines import answer, choose_openblas_core, one_line, pin_threads, time_runs

SAMPLES = 64


def mixed_bits(seed, i, np):
    """As in bench/gemm_operands.h."""
    x = i.astype(np.uint32) * np.uint32(0x9E3779B1)
    x += np.uint32((seed * 0x7F4A7C15) & 0xFFFFFFFF)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x85EBCA6B)
    return x ^ (x >> np.uint32(13))


class PyTorch:
    def __init__(self, threads):
        # Two pools that wait busily, OpenMP's and the BLAS's, hold each other up.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import numpy as np
        import torch
        self.np, self.torch, self.threads = np, torch, threads
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.version = f"torch {torch.__version__.split('+')[0]}"
        self.run = None
        self.made = {}  # operands, kept from case to case

    def operand(self, seed, shape, dtype):
        count = 1
        for size in shape:
            count *= size
        if (count, dtype) == self.made.get(seed, (None,))[:2]:
            return self.made[seed][2].reshape(shape)
        low = mixed_bits(seed, self.np.arange(count, dtype=self.np.uint32), self.np) & 255
        values = (low.astype(self.np.float32) - 128) / 128
        self.made[seed] = count, dtype, self.torch.from_numpy(values).to(dtype)
        return self.made[seed][2].reshape(shape)

    def set_case(self, words):
        self.run = None
        dtype, layout = words[0], words[5]
        m, n, k, batch = map(int, words[1:5])
        kinds = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}
        kind = getattr(self.torch, kinds[dtype])
        lead = () if batch == 1 else (batch,)
        a = self.operand(1, (*lead, m, k), kind)
        if layout == "T":
            b = self.operand(2, (*lead, n, k), kind).transpose(-1, -2)
        else:
            b = self.operand(2, (*lead, k, n), kind)
        c = self.torch.empty((*lead, m, n), dtype=kind)
        if batch > 1:
            self.run = lambda: self.torch.bmm(a, b, out=c)
        elif n == 1:
            x, y = b[:, 0], c[:, 0]
            self.run = lambda: self.torch.mv(a, x, out=y)
        elif m == 1:
            t, x, y = b.t(), a[0], c[0]
            self.run = lambda: self.torch.mv(t, x, out=y)
        else:
            self.run = lambda: self.torch.mm(a, b, out=c)
        self.run()
        if self.threads == 1:
            pin_threads(sorted(os.sched_getaffinity(0)))
        start = time.perf_counter()
        self.run()
        seconds = time.perf_counter() - start
        flat = c.reshape(-1)
        total = flat.numel()
        places = mixed_bits(3, self.np.arange(SAMPLES, dtype=self.np.uint32), self.np) % total
        places[0], places[1] = 0, total - 1
        values = [float(flat[int(p)]) for p in places]
        answer(f"values {seconds:.9f} " + " ".join(f"{v:.17g}" for v in values))


def main():
    choose_openblas_core()
    try:
        peer = PyTorch(int(sys.argv[2]))
    except ImportError as e:
        answer(f"missing {e.name or e} ({sys.executable} has no such module)")
        return
    answer("ready " + peer.version)
    for line in sys.stdin:
        command, *rest = line.split()
        try:
            if command == "case":
                try:
                    peer.set_case(rest)
                except RuntimeError as e:  # "not implemented for 'Half'"
                    peer.run = None
                    answer("refused " + one_line(e))
            elif command == "run" and peer.run:
                # Passive threads are asleep as soon as the last call is done.
                time_runs(peer.run, int(rest[0]), waits_for_others=peer.threads == 1, settle=0)
            else:
                answer(f"error unknown command {line.strip()}")
        except Exception as e:  # whatever the library throws
            answer("error " + one_line(e))


if __name__ == "__main__":
    main()
