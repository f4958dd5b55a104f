# SPDX-License-Identifier: Apache-2.0
"""What the Python peers of `wick bench` have in common: lines out, times, where threads run."""
import ctypes
import os
import sys
import time

# Threads of the library that still wait busily when an answer is out would disturb others.
SETTLE_SECONDS = 0.01


def answer(text):
    sys.stdout.buffer.write((text + "\n").encode())
    sys.stdout.buffer.flush()


def pin_threads(cpus):
    """The main thread on the first CPU, all others on the rest, as wick bench pins its own."""
    if not cpus:
        return
    for thread in map(int, os.listdir("/proc/self/task")):
        try:
            os.sched_setaffinity(thread, cpus[:1] if thread == os.getpid() else cpus[1:] or cpus)
        except OSError:
            pass


def waited_seconds():
    """For how long the threads of this process could run but had no CPU, where the system tells."""
    total = 0
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[1])
    except (OSError, IndexError):
        pass
    return total / 1e9


def time_runs(run, count, waits_for_others=True, settle=SETTLE_SECONDS):
    """Answers what `count` calls of run() took. Waiting is not counted where the library's own
    threads wait for each other's CPUs, whatever else runs."""
    waited = waited_seconds()
    start = time.perf_counter()
    for _ in range(count):
        run()
    seconds = time.perf_counter() - start
    time.sleep(settle)
    waited = max(0, waited_seconds() - waited) if waits_for_others else 0
    answer(f"seconds {seconds:.9f} {waited:.9f}")


def choose_openblas_core():
    """An OpenBLAS older than its CPU takes the oldest kernels: it is told the newest that fit, in a
    new process. To be called before anything is read or loaded."""
    if "OPENBLAS_CORETYPE" in os.environ:
        return
    try:
        name = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
        name.restype = ctypes.c_char_p
        with open("/proc/cpuinfo", encoding="ascii") as file:
            flags = next(line for line in file if line.startswith("flags")).split()
    except (OSError, AttributeError, StopIteration):
        return
    if name() == b"Prescott" and "avx2" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "SkylakeX" if "avx512vl" in flags else "Haswell"
        os.execv(sys.executable, [sys.executable, *sys.argv])


def one_line(error):
    return " ".join(str(error).split())
