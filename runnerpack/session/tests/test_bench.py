"""sandglass.bench with a clock of its own, and with torch where it is installed; sandglass.xla against a stand-in."""

import importlib.util
import json
import os
import subprocess
import sys
import types
import unittest
from unittest import mock

from harness import SESSION, Case
from sandglass import bench, xla


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class BenchTest(Case):
    def run_loop(self, waits, works, **options):
        clock = Clock()

        def loader():
            for w in waits:
                clock.now += w
                yield "batch"

        b = bench.Bench("idea", clock=clock, **options)
        for work, _ in zip(works, b.batches(loader())):
            clock.now += work
        return b

    def test_input_bound_over_a_fifth(self):
        for wait, want in ((0.19, "compute-bound"), (0.2, "compute-bound"), (0.21, "input-bound")):
            row = self.run_loop([wait] * 50, [1 - wait] * 50, batch_size=8).record()
            self.assertEqual((row["verdict"], row["wait_share"]), (want, wait))
        self.assertEqual((row["samples_per_s"], row["step_s"], row["data_wait_s"]), (8.0, 1.0, 0.21))

    def test_the_first_steps_do_not_count(self):
        row = self.run_loop([9.0] * 3 + [0.0] * 5, [60.0] * 3 + [1.0] * 6).record()
        self.assertEqual((row["verdict"], row["steps"], row["skipped"], row["step_s"]), ("compute-bound", 5, 3, 1.0))

    def test_too_few_steps_give_no_verdict(self):
        row = self.run_loop([1.0] * 2, [1.0] * 3).record()
        self.assertEqual((row["verdict"], row["steps"], row["wait_share"]), (None, 0, None))
        self.assertIn("too few", bench.sentence(row))

    def test_no_more_batches_are_taken_than_asked_for(self):
        b, taken = bench.Bench("idea", skip=2, clock=Clock()), []
        for _ in b.batches((taken.append(i) for i in range(100)), steps=5):
            pass
        self.assertEqual((len(taken), len(b.steps)), (7, 7))

    def test_context_managers_and_the_device_is_waited_for(self):
        clock = Clock()

        def device():
            clock.now += 2.0

        b = bench.Bench("idea", skip=0, synchronize=device, clock=clock)
        with b.waiting():
            clock.now += 1.0
        with b.working():
            clock.now += 0.5
        self.assertEqual(b.steps, [(1.0, 3.5)])

    def test_the_record_is_one_line(self):
        path = os.path.join(self.dir, "reports", "bench.jsonl")
        b = self.run_loop([0.5] * 9, [0.5] * 9, batch_size=4)
        b.points = {8: 1800, 4: 1400}
        with mock.patch("builtins.print") as said:
            b.write(path), b.write(path)
        with open(path) as f:
            rows = [json.loads(line) for line in f]
        self.assertEqual(len(rows), 2)
        self.assertEqual(sorted(rows[0]), ["batch_size", "data_wait_s", "device", "memory", "name", "note", "samples_per_s", "schema", "skipped", "step_s",
                                           "steps", "time", "verdict", "wait_share"])
        self.assertEqual((rows[0]["memory"]["m0_bytes"], rows[0]["memory"]["m1_bytes_per_sample"]), (1000, 100))
        self.assertIn("input-bound, 50 % of a step", said.call_args[0][0])

    def test_the_line_and_the_largest_batch(self):
        self.assertEqual(bench.fit_line([(4, 1400), (8, 1800)]), (1000.0, 100.0))
        m0, m1 = bench.fit_line([(1, 10), (2, 21), (3, 29)])
        self.assertAlmostEqual(m1, 9.5)
        self.assertAlmostEqual(m0, 1.0)
        self.assertEqual(bench.fit_line([(4, 1400)]), (None, None))
        self.assertEqual(bench.largest_batch(1000, 100, 10000), 80)
        self.assertEqual(bench.largest_batch(20000, 100, 10000), 0)
        self.assertIsNone(bench.largest_batch(1000, 0, 10000))
        self.assertIsNone(bench.largest_batch(1000, 100, None))

    @unittest.skipUnless(sys.platform.startswith("linux"), "peak memory is read from /proc")
    def test_memory_of_this_process_grows_with_the_batch(self):
        b = bench.Bench("idea")
        for size in (8, 32):
            with b.memory(size):
                data = bytearray(size << 20)
                data[::4096] = b"x" * len(data[::4096])
                del data
        memory = b.record()["memory"]
        self.assertEqual([p["batch"] for p in memory["points"]], [8, 32])
        self.assertAlmostEqual(memory["m1_bytes_per_sample"] / 2.0 ** 20, 1.0, delta=0.35)
        self.assertGreater(memory["largest_batch"], 32)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_a_real_loop(self):
        import torch
        model, big = torch.nn.Linear(8, 8), torch.randn(500, 500)

        def heavy():
            for _ in range(4):
                torch.mm(big, big)

        def loader(slow):
            for _ in range(12):
                if slow:
                    heavy()
                yield big[:32, :8]

        for slow, want in ((True, "input-bound"), (False, "compute-bound")):
            b = bench.Bench("idea", batch_size=32, device=torch.device("cpu"))
            for x in b.batches(loader(slow), steps=8):
                model(x).sum().backward()
                if not slow:
                    heavy()
            self.assertEqual(b.record()["verdict"], want, b.record())


def stand_in(log, old=False):
    """torch_xla as far as sandglass.xla uses it; old has no torch_xla.device and torch_xla.sync."""
    def note(word, value=None):
        return lambda *args, **kwargs: (log.append((word,) + args), value)[1]

    top, core, xm = types.ModuleType("torch_xla"), types.ModuleType("torch_xla.core"), types.ModuleType("torch_xla.core.xla_model")
    xm.xla_device, xm.mark_step, xm.wait_device_ops = note("xla_device", "old:0"), note("mark_step"), note("wait")
    if not old:
        top.device, top.sync = note("device", "xla:0"), note("sync")
    distributed, parallel = types.ModuleType("torch_xla.distributed"), types.ModuleType("torch_xla.distributed.parallel_loader")
    parallel.MpDeviceLoader = note("loader", "wrapped")
    debug, metrics, runtime = types.ModuleType("torch_xla.debug"), types.ModuleType("torch_xla.debug.metrics"), types.ModuleType("torch_xla.runtime")
    metrics.short_metrics_report = lambda: "CompileTime"
    metrics.counter_names = lambda: ["aten::nonzero", "xla::add", "aten::unique", "aten::_local_scalar_dense"]
    runtime.initialize_cache = lambda path, readonly: log.append(("cache", path, readonly))
    core.xla_model, distributed.parallel_loader, debug.metrics = xm, parallel, metrics
    top.core, top.distributed, top.debug, top.runtime = core, distributed, debug, runtime
    return mock.patch.dict(sys.modules, {m.__name__: m for m in (top, core, xm, distributed, parallel, debug, metrics, runtime)})


class XlaTest(Case):
    def test_the_calls(self):
        log = []
        with stand_in(log), mock.patch.dict(os.environ, {"SANDGLASS_COMPILE_CACHE": ""}):
            self.assertEqual(xla.device(), "xla:0")
            xla.sync()
            xla.sync(wait=True)
            self.assertEqual(xla.loader([1], "xla:0"), "wrapped")
            self.assertEqual((xla.report(), xla.fallbacks()), ("CompileTime", ["aten::unique"]))
            with mock.patch.dict(os.environ, {"SANDGLASS_COMPILE_CACHE": os.path.join(self.dir, "cache")}):
                xla.device(), xla.device()
        self.assertEqual(log, [("device",), ("sync",), ("sync",), ("wait",), ("loader", [1], "xla:0"),
                               ("cache", os.path.join(self.dir, "cache"), False), ("device",), ("device",)])

    def test_the_compile_cache_is_the_sessions(self):
        log, folder = [], os.path.join(self.dir, "of-the-session")
        with stand_in(log), mock.patch.dict(os.environ, {"SANDGLASS_COMPILE_CACHE": folder}):
            xla.compile_cache(), xla.compile_cache()
            xla.compile_cache(os.path.join(self.dir, "own"))
        self.assertEqual(log, [("cache", folder, False), ("cache", os.path.join(self.dir, "own"), False)])
        self.assertTrue(os.path.isdir(folder))
        with stand_in(log), mock.patch.dict(os.environ):
            os.environ.pop("SANDGLASS_COMPILE_CACHE", None)
            xla.compile_cache()
        self.assertEqual(len(log), 2)

    def test_an_older_torch_xla(self):
        log = []
        with stand_in(log, old=True):
            self.assertEqual(xla.device(), "old:0")
            xla.sync()
        self.assertEqual(log, [("xla_device",), ("mark_step",)])

    def test_available_needs_the_variable_and_the_library(self):
        with mock.patch.dict(os.environ, {"PJRT_DEVICE": ""}):
            self.assertFalse(xla.available())
        with mock.patch.dict(os.environ, {"PJRT_DEVICE": "CPU"}):
            self.assertEqual(xla.available(), importlib.util.find_spec("torch_xla") is not None)

    def test_the_bench_waits_for_the_chip(self):
        log = []
        with stand_in(log):
            b = bench.Bench("idea", device=types.SimpleNamespace(type="xla"), skip=0)
            for _ in b.batches([1]):
                pass
        self.assertEqual((b.device, log), ("xla", [("sync",), ("wait",)]))
        self.assertIsNone(bench.peak_bytes("xla"))

    def test_copies_go_to_the_cpu(self):
        class Tensor:
            def __init__(self, on="xla:0"):
                self.on = on

            def detach(self):
                return self

            def cpu(self):
                return Tensor("cpu")

        state = xla.to_cpu({"model": {"w": Tensor()}, "steps": [Tensor(), 3], "pair": (Tensor(), "x"), "none": None})
        self.assertEqual([state["model"]["w"].on, state["steps"][0].on, state["pair"][0].on], ["cpu"] * 3)
        self.assertEqual((state["steps"][1], state["pair"][1], state["none"]), (3, "x", None))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_checkpoints_with_torch(self):
        import torch
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        path = os.path.join(self.dir, "artifacts", "fold0_resume.pt")
        xla.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "next_epoch": 3}, path)
        state = xla.load(path)
        again = torch.nn.Linear(3, 2)
        again.load_state_dict(state["model"])
        torch.optim.AdamW(again.parameters()).load_state_dict(state["optimizer"])
        self.assertTrue(torch.equal(again.weight, model.weight))
        self.assertEqual((state["next_epoch"], os.listdir(os.path.dirname(path))), (3, ["fold0_resume.pt"]))

        class Broken:
            def __reduce__(self):
                raise OSError("the disk is full")

        with self.assertRaises(OSError):
            xla.save({"model": model.state_dict(), "broken": Broken()}, path)
        self.assertEqual(xla.load(path)["next_epoch"], 3)

    @unittest.skipIf(importlib.util.find_spec("torch"), "torch is installed")
    def test_without_torch_the_error_is_pythons_own(self):
        code = "from sandglass import xla; xla.device()"
        out = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=SESSION), stderr=subprocess.PIPE)
        self.assertIn(b"ModuleNotFoundError: No module named 'torch_xla'", out.stderr)


if __name__ == "__main__":
    unittest.main()
