"""The runner as a whole: it is filled in and run as a process, and judged by what it leaves behind."""

import ast
import hashlib
import importlib.util
import os
import sys
import time
import unittest
import zipfile

from harness import SESSION, TRAIN, Case, job, kill_all, pids_with

import jobs
import sampler
import tasks
import tools
import tpu


class Source(Case):
    def test_what_travels_is_ascii_and_old_enough(self):
        for folder, _, names in os.walk(SESSION):
            for name in names:
                if not name.endswith(".py") or "tests" in folder:
                    continue
                with open(os.path.join(folder, name), "rb") as f:
                    text = f.read().decode("ascii")
                tree = ast.parse(text, feature_version=(3, 8))
                for node in tree.body:
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        top = (node.names[0].name if isinstance(node, ast.Import) else node.module).split(".")[0]
                        self.assertNotIn(top, ("numpy", "torch", "pandas"), name)

    def test_each_marker_is_there_once(self):
        with open(os.path.join(SESSION, "bootstrap.py"), encoding="ascii") as f:
            text = f.read()
        for mark in ("@@DOC@@", "@@CONFIG@@", "@@PAYLOAD@@", "@@PAYLOAD_SHA256@@"):
            self.assertEqual(text.count(mark), 1, mark)


class Whole(Case):
    def test_folds_are_trained_joined_and_recorded(self):
        ran = self.session({"jobs": [job(folds=range(3))]})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual(set(ran.states.values()), {"done"})
        self.assertEqual(ran.run["outcome"], "complete")
        self.assertEqual(ran.run["jobs"][0]["score"], 0.7)
        self.assertEqual([t["epochs"] for t in ran.run["tasks"]], [3, 3, 3])
        self.assertAlmostEqual(ran.run["tasks"][0]["best"], 0.52)
        self.assertEqual(sorted(p["fold"] for p in ran.telemetry("point")), [0, 1, 2])
        self.assertEqual(ran.telemetry("end")[0]["exit"], 0)
        self.assertIn("[idea/f1] fold 1 starts at epoch 0", ran.output)
        self.assertIn("fold 1 starts", self.read("logs/idea_fold1.log"))
        self.assertEqual([n for n in os.listdir(os.path.join(self.working, "artifacts/idea")) if "resume" in n], [])
        with open(os.path.join(self.working, "telemetry.jsonl")) as f:
            self.assertEqual(len(f.readlines()), ran.output.count("::sandglass "))

    def test_manifest_names_every_file_with_its_digest(self):
        ran = self.session()
        listed = {f["path"]: f for f in ran.manifest["files"]}
        there = []
        for folder, _, names in os.walk(self.working):
            there += [os.path.relpath(os.path.join(folder, n), self.working) for n in names]
        self.assertEqual(set(listed) | {"manifest.json"}, set(there))
        for path, row in listed.items():
            with open(os.path.join(self.working, path), "rb") as f:
                data = f.read()
            self.assertEqual((row["size"], row["sha256"]), (len(data), hashlib.sha256(data).hexdigest()), path)

    def test_assembly_is_found_in_both_spellings(self):
        for spelling in ("--folds {fold}", "--folds={fold}", "--folds   {fold}"):
            with self.subTest(spelling):
                ran = self.session({"jobs": [job(cmd="python src/train.py --name idea " + spelling, folds=[0])]})
                self.assertIs(ran.run["jobs"][0]["assembled"], True)

    def test_null_means_there_is_nothing_to_join(self):
        ran = self.session({"jobs": [job(folds=[0], assemble=None)]})
        self.assertIsNone(ran.run["jobs"][0]["assembled"])
        self.assertIsNone(ran.run["jobs"][0]["score"])

    def test_a_failing_assembly_keeps_the_folds(self):
        ran = self.session({"jobs": [job(folds=[0], assemble="echo no such column; exit 3")]})
        self.assertEqual((ran.code, ran.run["outcome"]), (0, "partial"))
        self.assertIn("no such column", ran.findings["assemble-failed"])

    def test_any_job_names_how_its_folds_are_joined(self):
        other = job("other", "python src/train.py --name other --folds {fold}", [2], assemble="echo joined > subs/other.txt")
        ran = self.session({"jobs": [job(folds=[0]), other]})
        self.assertEqual([j["assembled"] for j in ran.run["jobs"]], [True, True], ran.output)
        self.assertEqual(self.read("subs/other.txt").strip(), "joined")

    def test_two_jobs_have_their_own_folds_and_a_post_command_follows(self):
        other = job("other", "python src/train.py --name other --folds {fold}", [2])
        ran = self.session({"jobs": [job(folds=[0, 1]), other], "post": ["ls artifacts > subs/list.txt", "exit 4"]})
        self.assertEqual(set(ran.states), {("idea", 0), ("idea", 1), ("other", 2)})
        self.assertEqual(self.read("subs/list.txt").split(), ["idea", "other"])
        self.assertIn("exit 4", ran.findings["post-failed"])
        self.assertEqual(ran.run["outcome"], "complete")

    def test_a_command_without_fold_gets_the_whole_machine(self):
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(cmd="python src/train.py --name idea --folds 0 1", folds=None)]},
                           env={"SANDGLASS_FAKE_GPUS": "2"})
        self.assertEqual(ran.states, {("idea", None): "done"})
        env = self.env_of(0)
        self.assertNotIn("CUDA_VISIBLE_DEVICES", env)
        self.assertNotIn("KG_DEFER_ASSEMBLE", env)
        self.assertEqual(sorted(p["fold"] for p in ran.telemetry("point")), [0, 1])

    def test_any_command_works(self):
        ran = self.session({"jobs": [job(cmd="echo fold {fold} > subs/{fold}.txt", folds=[0, 1])]})
        self.assertEqual((ran.code, set(ran.states.values())), (0, {"done"}))
        self.assertEqual(self.read("subs/1.txt"), "fold 1\n")

    def test_python_is_the_sessions_own(self):
        self.put("other/python", "#!/bin/sh\necho wrong python\nexit 9\n")
        os.chmod(os.path.join(self.dir, "other/python"), 0o755)
        ran = self.session({"jobs": [job(folds=[0])]}, env={"PATH": os.path.join(self.dir, "other") + ":/usr/bin:/bin"})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual(os.path.realpath(self.env_of(0)["_python"]), os.path.realpath(sys.executable))

    def test_longest_predicted_first(self):
        ran = self.session({"jobs": [job(folds=[0, 1, 2])], "durations": {"idea/0": 10, "idea/1": 30, "idea/2": 20}},
                           env={"SANDGLASS_WORKERS": "1"})
        self.assertEqual([t["fold"] for t in ran.telemetry("task") if t["state"] == "running"], [1, 2, 0])

    def test_a_progress_bar_and_odd_bytes_do_no_harm(self):
        noisy = "import sys\nfor i in range(2000): sys.stdout.write('\\r%d %%' % i)\nsys.stdout.buffer.write(b'\\xff caf\\xc3\\xa9\\n')"
        ran = self.session({"jobs": [job(cmd="python src/noisy.py", folds=None)]}, {"src/noisy.py": noisy}, env={"PYTHONIOENCODING": "ascii"})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertLess(len([line for line in ran.output.splitlines() if line.startswith("[idea]")]), 5)

    def test_a_task_cannot_pass_for_the_runner(self):
        ran = self.session({"jobs": [job(cmd="echo '::sandglass {\"k\":\"end\",\"outcome\":\"complete\"}'", folds=None)]})
        self.assertEqual(len(ran.telemetry("end")), 1)


class Environment(Case):
    def test_gpu_tasks(self):
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(folds=[0, 1])]},
                           env={"SANDGLASS_FAKE_GPUS": "2", "SANDGLASS_WORKERS": "", "MKL_NUM_THREADS": "7"})
        self.assertEqual(ran.code, 0, ran.output)
        a, b = self.env_of(0), self.env_of(1)
        self.assertEqual({a["CUDA_VISIBLE_DEVICES"], b["CUDA_VISIBLE_DEVICES"]}, {"0", "1"})
        share = str(max(1, ran.run["hardware"]["cpus"] // 2))
        self.assertEqual((a["OMP_NUM_THREADS"], a["OPENBLAS_NUM_THREADS"], a["MKL_NUM_THREADS"]), (share, share, "7"))
        self.assertEqual((a["KG_DEFER_ASSEMBLE"], a["PYTHONUNBUFFERED"], a["KGKIT_HOME"]), ("1", "1", self.scratch))
        self.assertEqual(a["PYTHONPATH"].split(os.pathsep)[0], self.scratch)
        deadline = [s for s in ran.telemetry("session") if s["phase"] == "tasks"][0]["deadline"]
        self.assertAlmostEqual(float(a["KG_DEADLINE"]), deadline, delta=0.01)
        self.assertAlmostEqual(float(a["KG_RESERVE_S"]), 180.0)
        self.assertEqual({t["device"] for t in ran.run["tasks"]}, {"gpu0", "gpu1"})

    def test_tpu_tasks(self):
        ran = self.session({"accelerator": "TpuV5E8", "jobs": [job(folds=[0, 1, 2])]},
                           env={"SANDGLASS_FAKE_TPU_CHIPS": "8", "SANDGLASS_WORKERS": "", "TPU_PROCESS_ADDRESSES": "local",
                                "CLOUD_TPU_TASK_ID": "0", "TPU_PROCESS_PORT": "8476", "TPU_HOST_BOUNDS": "2,2,1"})
        self.assertEqual(ran.code, 0, ran.output)
        seen = [self.env_of(k) for k in range(3)]
        self.assertEqual({e["TPU_VISIBLE_CHIPS"] for e in seen}, {"0", "1", "2"})
        for e in seen:
            self.assertEqual((e["PJRT_DEVICE"], e["TPU_CHIPS_PER_PROCESS_BOUNDS"], e["TPU_PROCESS_BOUNDS"]), ("TPU", "1,1,1", "1,1,1"))
            for name in ("TPU_PROCESS_ADDRESSES", "CLOUD_TPU_TASK_ID", "TPU_PROCESS_PORT", "TPU_HOST_BOUNDS", "CUDA_VISIBLE_DEVICES"):
                self.assertNotIn(name, e)

    def test_the_whole_tpu(self):
        self.session({"accelerator": "TpuV5E8", "jobs": [job(cmd="python src/train.py --folds 0", folds=None)]},
                     env={"SANDGLASS_FAKE_TPU_CHIPS": "8", "TPU_PROCESS_ADDRESSES": "local"})
        env = self.env_of(0)
        self.assertEqual(env["PJRT_DEVICE"], "TPU")
        for name in ("TPU_VISIBLE_CHIPS", "TPU_PROCESS_ADDRESSES"):
            self.assertNotIn(name, env)


class Devices(Case):
    def refused(self, accelerator, env, *words):
        began = time.time()
        ran = self.session({"accelerator": accelerator}, env=env)
        self.assertLess(time.time() - began, 60)
        self.assertNotEqual(ran.code, 0)
        self.assertIn("SANDGLASS_WRONG_DEVICE", ran.output)
        for word in words:
            self.assertIn(word, ran.output)
        self.assertEqual(ran.run["outcome"], "failed")
        self.assertFalse(os.listdir(os.path.join(self.working, "artifacts")))
        return ran

    def test_no_gpu(self):
        self.assertIn("no-device", self.refused("NvidiaTeslaT4", {"SANDGLASS_FAKE_GPUS": "0"}, "2 x T4", "no accelerator").findings)

    def test_cards_whose_driver_fails(self):
        self.put("bin/nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'\nexit 9\n")
        os.chmod(os.path.join(self.dir, "bin/nvidia-smi"), 0o755)
        self.assertIn("no-device", self.refused("NvidiaTeslaT4", {"PATH": os.path.join(self.dir, "bin") + ":" + os.environ["PATH"]}, "no accelerator").findings)

    def test_one_gpu_of_two(self):
        self.assertIn("wrong-device", self.refused("NvidiaTeslaT4", {"SANDGLASS_FAKE_GPUS": "1"}, "found 1 x").findings)

    def test_too_few_chips(self):
        self.refused("TpuV5E8", {"SANDGLASS_FAKE_TPU_CHIPS": "4"}, "found 4 TPU chips")

    def test_an_image_without_tpu_software(self):
        env = {"SANDGLASS_FAKE_TPU_CHIPS": "8", "SANDGLASS_FAKE_TPU_IMAGE": "0"}
        self.assertIn("wrong-device", self.refused("TpuV5E8", env, "not the TPU image").findings)

    def test_how_a_tpu_image_is_told(self):
        self.put("there/jax.py")
        kept, path = {k: os.environ.pop(k) for k in list(os.environ) if k == "ISTPUVM" or k.startswith("SANDGLASS_FAKE_TPU")}, list(sys.path)
        try:
            if not any(importlib.util.find_spec(m) for m in ("torch_xla", "jax", "libtpu")):
                self.assertIn("not the TPU image", tpu.wrong_image())
            os.environ["ISTPUVM"] = "1"
            self.assertIsNone(tpu.wrong_image())
            del os.environ["ISTPUVM"]
            sys.path.insert(0, os.path.join(self.dir, "there"))
            self.assertIsNone(tpu.wrong_image())
            self.assertNotIn("jax", sys.modules)
        finally:
            sys.path[:] = path
            os.environ.update(kept)

    def test_chips_have_a_compile_cache_each(self):
        self.session({"accelerator": "TpuV5E8", "jobs": [job(folds=range(3))]}, env={"SANDGLASS_FAKE_TPU_CHIPS": "8"})
        caches = {self.env_of(k)["SANDGLASS_COMPILE_CACHE"] for k in range(3)}
        self.assertEqual(len(caches), 3)
        self.assertEqual({self.env_of(k)["JAX_COMPILATION_CACHE_DIR"] for k in range(3)}, caches)

    def test_pytorch_that_hangs_or_dies_is_given_up_and_told(self):
        for torch, words in (("import os, time\nos.fork()\ntime.sleep(60)", "did not answer in time"), ("raise SystemExit(5)", "exit status 5")):
            with self.subTest(words):
                env = dict(self.smi("Tesla T4", torch), SANDGLASS_TORCH_CHECK_S="0.5")
                ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(folds=[0])]}, env=env)
                self.assertEqual(ran.code, 0, ran.output)
                self.assertIn(words, ran.findings["torch-unchecked"])
                self.assertLess(ran.run["times"]["preflight"], 30)

    def test_a_card_that_pytorch_cannot_open(self):
        torch = self.TORCH.replace("staticmethod(lambda i: %s)", "staticmethod(lambda i: 1 // 0)")
        self.refused("NvidiaTeslaT4", self.smi("Tesla T4", torch), "cannot open GPU 0")

    def smi(self, name, torch):
        """A machine with two cards of that name as nvidia-smi tells it, and this text as the module torch."""
        self.put("bin/nvidia-smi", "#!/bin/sh\ncase \"$*\" in\n*-l*) exec sleep 60 ;;\nesac\necho '0, %s, 16384'\necho '1, %s, 16384'\n" % (name, name))
        os.chmod(os.path.join(self.dir, "bin/nvidia-smi"), 0o755)
        self.put("torch/torch.py", torch)
        return {"PATH": os.path.join(self.dir, "bin") + ":" + os.environ["PATH"], "PYTHONPATH": os.path.join(self.dir, "torch")}

    TORCH = '''
__version__ = "2.11"
class T(list):
    def __matmul__(self, other): return {(0, 0): 64.0}
def ones(*a, device): return T()
class cuda:
    get_arch_list = staticmethod(lambda: ["sm_75", "sm_80", "sm_90a"])
    device_count = staticmethod(lambda: 2)
    get_device_capability = staticmethod(lambda i: %s)
'''

    def test_another_card(self):
        self.refused("NvidiaTeslaT4", self.smi("Tesla P100-PCIE-16GB", ""), "2 x Tesla P100")

    def test_pytorch_without_code_for_the_card(self):
        self.refused("NvidiaTeslaT4", self.smi("Tesla T4", self.TORCH % "(6, 0)"), "no code for GPU 0 (sm_60)")

    def test_the_right_card(self):
        ran = self.session({"accelerator": "NvidiaTeslaT4"}, env=self.smi("Tesla T4", self.TORCH % "(7, 5)"))
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual([g["name"] for g in ran.run["hardware"]["gpus"]], ["Tesla T4", "Tesla T4"])

    def test_any_device_is_allowed_on_request(self):
        ran = self.session({"accelerator": "NvidiaTeslaT4", "allow_any_device": True}, env={"SANDGLASS_FAKE_GPUS": "0"})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertIn("no-device", ran.findings)

    def test_utilisation_over_the_tasks_own_time(self):
        fake = "#!/bin/sh\nwhile :; do\necho '2026/01/01 00:00:00.000, 0, Tesla T4, 90, 20, 1000, 15360, 60.5, 50, 1590'\n" \
               "echo '2026/01/01 00:00:00.000, 1, Tesla T4, 10, 2, 500, 15360, 20.5, 50, 1590'\nsleep 0.1\ndone\n"
        self.put("bin/nvidia-smi", fake)
        os.chmod(os.path.join(self.dir, "bin/nvidia-smi"), 0o755)
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(cmd="python src/train.py --sleep 0.3 --folds {fold}")]},
                           env={"SANDGLASS_FAKE_GPUS": "2", "PATH": os.path.join(self.dir, "bin") + ":" + os.environ["PATH"]})
        util = {u["device"]: u for u in ran.run["util"]}
        self.assertEqual((util["gpu0"]["median"], util["gpu1"]["median"], util["gpu0"]["mem_peak_mb"]), (90.0, 10.0, 1000.0))
        self.assertEqual({d["d"] for u in ran.telemetry("util") for d in u["dev"]}, {"gpu0", "gpu1"})
        self.assertEqual(pids_with(os.path.join(self.dir, "bin/nvidia-smi")), [])


# What tpu-info 0.14 prints with --metric duty_cycle_percent --metric hbm_usage, into a pipe.
TPU_METRICS = """TPU Duty Cycle

| Core ID | Duty Cycle (%) |
|---------|----------------|
| 0       | 97.50%         |
| 1       | 12.00%         |
| 2       | N/A            |

TPU HBM Usage

| Chip | HBM Usage (GiB)       |
|------|-----------------------|
| 0    | 14.00 GiB / 15.75 GiB |
| 1    | 2.50 GiB / 15.75 GiB  |
| 2    | N/A                   |

"""
# What releases before --metric print, lines instead of bars, chips of a part of a larger slice; newer ones have bars and more tables.
TPU_PLAIN = """TPU Chips
\u250f\u2501\u2501\u2501\u2501\u2533\u2501\u2501\u2501\u2513
\u2503 Chip        \u2503 Type         \u2503 Devices \u2503 PID  \u2503
\u2502 /dev/vfio/0 \u2502 TPU v5e chip \u2502 1       \u2502 1022 \u2502
TPU Runtime Utilization
\u2503 Device \u2503 Memory usage          \u2503 Duty cycle \u2503
\u2502 8      \u2502 12.00 GiB / 15.75 GiB \u2502    100.00% \u2502
\u2502 9      \u2502  0.50 GiB / 15.75 GiB \u2502      3.00% \u2502
TensorCore Utilization
| Core ID | TensorCore Utilization |
| 8       | 13.60%                 |
"""


class Chips(Case):
    """TPU utilisation: what tpu-info says of the chips, and nothing where it is not."""

    def machine(self, body):
        self.put("bin/tpu-info", "#!/bin/sh\n" + body)
        os.chmod(os.path.join(self.dir, "bin/tpu-info"), 0o755)
        return {"SANDGLASS_FAKE_TPU_CHIPS": "8", "SANDGLASS_WORKERS": "", "KG_SAMPLE_S": "0.1", "PATH": os.path.join(self.dir, "bin") + ":" + os.environ["PATH"]}

    def run_three(self, env):
        ran = self.session({"accelerator": "TpuV5E8", "jobs": [job(cmd="python src/train.py --sleep 0.5 --folds {fold}", folds=range(3))]}, env=env)
        self.assertEqual(ran.code, 0, ran.output)
        return ran

    def test_the_tables_of_new_and_old_releases(self):
        self.assertEqual(tpu.read_tpu_info(TPU_METRICS), {0: (97.5, 14336.0), 1: (12.0, 2560.0)})
        self.assertEqual(tpu.read_tpu_info(TPU_PLAIN), {8: (100.0, 12288.0), 9: (3.0, 512.0)})
        self.assertEqual(tpu.read_tpu_info("No TPU chips found.\n"), {})

    def test_what_tpu_info_says_reaches_the_record(self):
        ran = self.run_three(self.machine("echo \"$*\" >>%s/asked\ncat <<'END'\n%sEND\n" % (self.dir, TPU_METRICS)))
        util = {u["device"]: u for u in ran.run["util"]}
        self.assertEqual((util["tpu0"]["median"], util["tpu1"]["median"], util["tpu0"]["mem_peak_mb"]), (97.5, 12.0, 14336.0), ran.run["util"])
        self.assertEqual(set(util), {"tpu0", "tpu1"})
        self.assertEqual({d["d"] for u in ran.telemetry("util") for d in u["dev"]}, {"tpu0", "tpu1"})
        self.assertIn("2 of the 8 chips", ran.findings["chips-partly-seen"])
        with open(os.path.join(self.dir, "asked")) as f:  # the view that reads the training process's port, and imports no libtpu
            self.assertEqual(set(f.read().splitlines()), {"--metric duty_cycle_percent --metric hbm_usage"})

    def test_an_old_release_is_asked_for_the_view_it_has(self):
        ran = self.run_three(self.machine("[ $# = 0 ] || exit 2\ncat <<'END'\n%sEND\n" % TPU_PLAIN))
        self.assertEqual({u["device"] for u in ran.run["util"]}, {"tpu8", "tpu9"})

    def test_without_it_the_curves_are_all_there_is(self):
        env = self.machine("exit 1\n")
        ran = self.run_three(env)
        self.assertEqual((ran.run["util"], ran.telemetry("util")), ([], []))
        self.assertTrue(all(p[2] is not None for t in ran.telemetry("point") for p in t["pts"]))

    def test_it_takes_less_than_a_hundredth_of_a_core(self):
        pauses = []

        class Closed:
            def wait(self, seconds):
                pauses.append(seconds)
                return len(pauses) == 4

        class Sampler:
            every, samples, closed, record = 10.0, [], Closed(), type("R", (), {"data": {"hardware": {"tpu_chips": 8}}, "finding": lambda *a: None})
        kept, tpu.run_counted = tpu.run_counted, lambda argv, limit: (0, TPU_METRICS, 1.5)
        which, tpu.shutil.which = tpu.shutil.which, lambda name: name
        try:
            tpu.follow(Sampler)
        finally:
            tpu.run_counted, tpu.shutil.which = kept, which
        self.assertEqual(pauses, [10.0, 300.0, 300.0, 300.0])
        self.assertEqual(len(Sampler.samples), 6)

    def test_a_call_is_counted_and_cut_off(self):
        status, text, cpu = tpu.run_counted([sys.executable, "-c", "sum(range(3000000)); print('x')"], 60)
        self.assertEqual((status, text), (0, "x\n"))
        self.assertGreater(cpu, 0.01)
        began = time.time()
        self.assertNotEqual(tpu.run_counted(["sh", "-c", "sleep 60"], 0.2)[0], 0)
        self.assertLess(time.time() - began, 30)
        self.assertEqual(tpu.run_counted([os.path.join(self.dir, "nothing")], 1), (None, "", 0.0))


class Pace(Case):
    def test_a_few_lines_a_minute_after_the_first(self):
        for running, most in ((1, 4), (2, 8), (8, 10)):
            for start in (60, 120, 3600):
                lines, now = 0, start
                while now < start + 60:
                    lines += running
                    now += tasks.points_every(now, running)
                self.assertLessEqual(lines / (now - start) * 60, most, (running, start))
        self.assertLessEqual(tasks.points_every(2, 2), 1.0)  # and at once while somebody watches it start
        self.assertGreaterEqual(sampler.util_every(60), 30)

    def test_every_cap_leaves_time_to_work_and_to_end(self):
        for hours in (0.01, 0.05, 0.1, 0.3, 0.5, 1, 2, 7, 9, 12):
            with self.subTest(hours):
                c = tools.Clock(hours, 0.0)
                self.assertGreaterEqual(c.graceful / c.cap, 0.74)
                self.assertLess(c.first, 0.1 * c.cap)
                self.assertTrue(c.graceful < c.hard < c.hard + c.grace < c.end < c.cap)
        self.assertEqual(tools.Clock(1, 0.0).graceful, 3000.0)

    def test_an_nvidia_smi_that_dies_is_started_again(self):
        waits = []

        class Closed:
            def wait(self, seconds):
                waits.append(seconds)
                return len(waits) > 4

        s = sampler.Sampler.__new__(sampler.Sampler)
        s.every, s.samples, s.closed, s.record, s.child = 10.0, [], Closed(), None, None
        self.put("bin/nvidia-smi", "#!/bin/sh\necho '2026/01/01 00:00:00.000, 0, Tesla T4, 90, 20, 1000, 15360, 60.5, 50, 1590'\n"
                                   "echo 'Unable to determine the device handle'\nexit 15\n")
        os.chmod(os.path.join(self.dir, "bin/nvidia-smi"), 0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = os.path.join(self.dir, "bin") + ":" + path
        try:
            s.follow_cards()
        finally:
            os.environ["PATH"] = path
        self.assertEqual([v[1:] for v in s.samples], [("gpu0", 90.0, 1000.0, 60.5)] * 4)
        self.assertEqual(waits, [0, 5, 10, 15, 20])  # patience grows

    def test_utilisation_leaves_start_up_and_tail_out(self):
        class Record:
            data = {"hardware": {"gpus": []}}
        s = sampler.Sampler.__new__(sampler.Sampler)
        s.record, s.samples, s.spans = Record(), [], [("gpu0", 10, 20, 110), ("gpu1", 10, 20, 60)]
        for t in range(0, 200):
            s.samples.append((t, "gpu0", 90.0 if 20 <= t <= 110 else 0.0, 5.0, None))
            s.samples.append((t, "gpu1", 80.0 if 20 <= t <= 60 else 0.0, 5.0, None))
        found = {u["device"]: u for u in s.summary()}
        self.assertEqual((found["gpu0"]["median"], found["gpu0"]["p10"], found["gpu1"]["median"], found["gpu1"]["p10"]), (90.0, 90.0, 80.0, 80.0))


class Failures(Case):
    def test_one_failed_fold_does_not_stop_the_others(self):
        ran = self.session({"jobs": [job(cmd="python src/train.py --fail 1 --folds {fold}", folds=range(4))]})
        self.assertEqual([ran.states["idea", k] for k in range(4)], ["done", "failed", "done", "done"])
        self.assertEqual((ran.code, ran.run["outcome"]), (0, "partial"))
        self.assertIn("ValueError: cannot train fold 1", ran.run["tasks"][1]["error"])
        self.assertIsNone(ran.run["jobs"][0]["assembled"])

    def test_a_first_wave_that_dies_of_one_error_stops_the_rest(self):
        for workers in ("1", "2"):
            with self.subTest(workers):
                ran = self.session({"jobs": [job(cmd="python src/train.py --fail 0 1 2 3 4 --folds {fold}", folds=range(5))]},
                                   env={"SANDGLASS_WORKERS": workers})
                self.assertEqual(sorted(ran.states.values()), ["failed"] * 2 + ["not-started"] * 3)
                self.assertNotEqual(ran.code, 0)
                self.assertIn("ValueError", ran.findings["early-failure"])

    def test_a_retry_helps_a_flaky_task(self):
        ran = self.session({"jobs": [job(cmd="python src/train.py --flaky --folds {fold}", folds=range(3))], "retry": 1})
        self.assertEqual((ran.code, ran.run["outcome"]), (0, "complete"), ran.output)
        self.assertEqual(len([t for t in ran.telemetry("task") if t["state"] == "failed"]), 3)

    def test_without_retry_it_fails(self):
        ran = self.session({"jobs": [job(cmd="python src/train.py --flaky --folds {fold}", folds=range(3))]})
        self.assertNotEqual(ran.code, 0)

    def test_pip_failure_ends_the_session_with_its_last_words(self):
        self.put("input/datasets/sam-roe/wheels/readme.txt")
        ran = self.session({"pip": ["no-such-package-of-ours"], "wheels": ["sam-roe/wheels"]})
        self.assertNotEqual(ran.code, 0)
        self.assertIn("no-such-package-of-ours", ran.findings["pip-failed"])
        self.assertEqual(set(ran.states.values()), {"not-started"})

    @unittest.skipIf(importlib.util.find_spec("pip") is None, "no pip")
    def test_packages_come_from_wheel_datasets(self):
        info = "sandglass_test_wheel-1.0.dist-info/"
        folder = os.path.join(self.input, "datasets/sam-roe/wheels/deep")
        os.makedirs(folder)
        with zipfile.ZipFile(os.path.join(folder, "sandglass_test_wheel-1.0-py3-none-any.whl"), "w") as z:
            z.writestr("sandglass_test_wheel.py", "WORD = 'from the wheel'\n")
            z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: sandglass-test-wheel\nVersion: 1.0\n")
            z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            z.writestr(info + "RECORD", "")
        site = os.path.join(self.dir, "site")
        command = "python -c 'import sandglass_test_wheel as w; print(w.WORD)' > subs/word.txt"
        ran = self.session({"pip": ["sandglass-test-wheel"], "wheels": ["sam-roe/wheels"], "jobs": [job(cmd=command, folds=None)]},
                           env={"PIP_TARGET": site, "PYTHONPATH": site, "PIP_BREAK_SYSTEM_PACKAGES": "1"})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual(self.read("subs/word.txt").strip(), "from the wheel")

    def test_an_optional_package_may_fail(self):
        self.put("input/datasets/sam-roe/wheels/readme.txt")
        ran = self.session({"pip": ["?no-such-package-of-ours"], "wheels": ["sam-roe/wheels"]})
        self.assertEqual(ran.code, 0, ran.output)
        self.assertIn("pip-failed", ran.findings)

    def test_a_stale_status_is_not_believed(self):
        self.put("working/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "timeout"}')
        ran = self.session({"jobs": [job(cmd="exit 7", folds=None), job("idea", "exit 7 {fold}", [0])]})
        self.assertEqual(ran.states["idea", 0], "failed")

    # Stops when the budget says so, and forgets to write the status.
    FORGETFUL = TRAIN.replace('budget.write_status("timeout", next_epoch=epoch + 1)', "pass").replace('budget.write_status("pruned", epoch=epoch)', "pass")

    def test_a_timeout_without_a_status_is_not_done(self):
        self.assertNotEqual(self.FORGETFUL, TRAIN)
        cmd = "python src/train.py --epochs 400 --sleep 0.05 --folds {fold}"
        ran = self.session({"hours": 0.003, "jobs": [job(cmd=cmd, folds=[0])]}, {"src/train.py": self.FORGETFUL})
        self.assertEqual((ran.states["idea", 0], ran.run["outcome"], ran.run["jobs"][0]["assembled"]), ("timeout", "partial", None), ran.output)
        self.assertTrue(ran.run["deadline_hit"])
        self.next_session()
        cmd = "python src/train.py --epochs %d --folds {fold}" % (ran.run["tasks"][0]["epochs"] + 2)
        ran = self.session({"resume": ["sam-roe/idea-train"], "jobs": [job(cmd=cmd, folds=[0])]}, {"src/train.py": self.FORGETFUL})
        self.assertEqual((ran.states["idea", 0], ran.run["outcome"]), ("done", "complete"), ran.output)
        self.assertNotIn("fold 0 starts at epoch 0", ran.output)

    def test_pruned_without_a_status_is_not_done(self):
        curve = '{"fold": 0, "epochs": 3, "greater_is_better": true, "points": [{"epoch": 0, "score": 0.9}]}'
        ran = self.session({"prune": {"margin": 0.1, "min_frac": 0.3}, "jobs": [job(folds=[0])]},
                           {"_sandglass/baseline/curve_fold0.json": curve, "src/train.py": self.FORGETFUL})
        self.assertEqual(ran.states["idea", 0], "pruned")

    def test_a_folds_own_margin(self):
        curve = '{"fold": %d, "epochs": 3, "greater_is_better": true, "points": [{"epoch": 0, "score": 0.55}]}'
        files = {"_sandglass/baseline/curve_fold%d.json" % k: curve % k for k in range(3)}
        # Each trails by .05: more than fold 0's noise, less than fold 1's, and fold 2 has the margin of all.
        ran = self.session({"prune": {"margin": 0.1, "min_frac": 0.3, "fold_margins": {"0": 0.02, "1": 0.2}}, "jobs": [job(folds=range(3))]}, files)
        self.assertEqual([ran.states["idea", k] for k in range(3)], ["pruned", "done", "done"], ran.output)
        seen = [self.env_of(k) for k in range(3)]
        self.assertEqual([e["KG_PRUNE_MARGIN"] for e in seen], ["0.02", "0.2", "0.1"])  # what a TrainBudget of kgkit reads
        self.assertEqual(seen[2]["KG_PRUNE_MARGIN_FOLD1"], "0.2")

    def test_pruning(self):
        curve = '{"fold": %d, "epochs": 3, "greater_is_better": true, "points": [{"epoch": 0, "score": %s, "seconds": 1}]}'
        files = {"_sandglass/baseline/curve_fold0.json": curve % (0, 0.9), "_sandglass/baseline/curve_fold1.json": curve % (1, 0.4)}
        ran = self.session({"prune": {"margin": 0.1, "min_frac": 0.3}}, files)
        self.assertEqual(ran.states, {("idea", 0): "pruned", ("idea", 1): "done"})
        self.assertEqual(ran.run["tasks"][0]["epochs"], 1)
        self.assertEqual((ran.code, ran.run["outcome"]), (0, "partial"))

    def test_many_files_are_packed(self):
        writer = "import os,sys\nk=sys.argv[1]\nos.makedirs('artifacts/idea',exist_ok=True)\n" \
                 "for i in range(300): open('artifacts/idea/fold%s_part%d.npy'%(k,i),'w').write('x')\n"
        ran = self.session({"jobs": [job(cmd="python src/many.py {fold}")]}, {"src/many.py": writer})
        files = [n for _, _, names in os.walk(self.working) for n in names]
        self.assertLessEqual(len(files), 480)
        self.assertIn("fold0.zip", files)
        self.assertIn("too-many-files", ran.findings)


STUBBORN = r'''
import multiprocessing, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 2:
    time.sleep(300)
import subprocess
subprocess.Popen([sys.executable, __file__, sys.argv[1], "worker"])
subprocess.Popen([sys.executable, __file__, sys.argv[1], "worker"], start_new_session=True)
print("spawned", flush=True)
time.sleep(300 if sys.argv[1] != "leave" else 0.3)
'''


class Endings(Case):
    def files(self):
        return {"src/stubborn%s.py" % os.path.basename(self.dir): STUBBORN}

    def command(self, what):
        return "python src/stubborn%s.py %s" % (os.path.basename(self.dir), what)

    def test_nothing_survives_the_hard_deadline(self):
        began = time.time()
        ran = self.session({"hours": 6 / 3600, "jobs": [job(cmd=self.command("stay"), folds=None)]}, self.files())
        self.assertLess(time.time() - began, 7.5)
        self.assertEqual(pids_with("stubborn" + os.path.basename(self.dir)), [])
        self.assertEqual(ran.states, {("idea", None): "killed"})
        self.assertTrue(ran.run["deadline_hit"])
        self.assertNotEqual(ran.code, 0)

    def test_what_a_finished_command_left_running_is_killed(self):
        ran = self.session({"jobs": [job(cmd=self.command("leave"), folds=None)]}, self.files())
        self.assertEqual(ran.states, {("idea", None): "done"})
        self.assertEqual(pids_with("stubborn" + os.path.basename(self.dir)), [])

    def test_a_task_that_could_save_nothing_in_time_is_not_started(self):
        ran = self.session({"hours": 0.004, "jobs": [job(cmd="sleep 6 #{fold}", folds=range(3))]}, env={"SANDGLASS_WORKERS": "1"})
        self.assertEqual([ran.states["idea", k] for k in range(3)], ["done", "not-started", "not-started"], ran.output)
        self.assertIn("deadline-reached", ran.findings)
        self.assertTrue(ran.run["deadline_hit"])

    def test_what_siblings_needed_is_what_a_task_is_believed_to_need(self):
        s = tasks.Session({"durations": {"idea/3": 100.0, "idea/4": 9000.0}}, None, tools.Clock(2, 0.0), None, "", self.working)
        j = jobs.Job(job(folds=range(5)))
        mine = [jobs.Task(j, k) for k in range(5)]
        s.record = type("R", (), {"tasks": mine})
        self.assertEqual([s.first_checkpoint(mine[k]) for k in (2, 3, 4)], [600.0, 100.0, 600.0])  # nobody ran: the share of the cap
        mine[0].attempts, mine[0].state, mine[0].seconds = 1, "done", 4000.0
        self.assertAlmostEqual(s.first_checkpoint(mine[2]), 4600.0)  # its sibling saved at its end alone
        mine[0].first_point = 300.0
        self.assertAlmostEqual(s.first_checkpoint(mine[2]), 345.0)

    def test_sigterm_ends_the_session_in_good_order(self):
        process = self.start({"hours": 0.02, "jobs": [job(cmd=self.command("stay"), folds=None)]}, self.files())
        for line in process.stdout:
            if b"spawned" in line:
                break
        process.terminate()
        process.communicate(timeout=30)
        self.assertEqual(pids_with("stubborn" + os.path.basename(self.dir)), [])
        run = self.json("run.json")
        self.assertEqual((run["tasks"][0]["state"], run["outcome"]), ("killed", "failed"))
        self.assertIn("stopped", [f["code"] for f in run["findings"]])
        self.assertIsNotNone(self.json("manifest.json"))

    def test_a_tiny_cap_does_useful_work_and_stops_in_time(self):
        began = time.time()
        ran = self.session({"hours": 8 / 3600, "jobs": [job(cmd="python src/train.py --epochs 100 --sleep 0.2 --folds {fold}", folds=range(3))]})
        self.assertLess(time.time() - began, 8)
        self.assertEqual([ran.states["idea", k] for k in (0, 1)], ["timeout", "timeout"])
        self.assertGreater(ran.run["tasks"][0]["epochs"], 3)
        # On a busy machine the first two save late enough to leave a worker some seconds for the third, which stops in time as well.
        self.assertIn(ran.states["idea", 2], ("not-started", "timeout"))
        self.assertEqual((ran.code, ran.run["outcome"], ran.run["deadline_hit"]), (0, "partial", True))

    def test_a_hung_task_is_found_out(self):
        ran = self.session({"hours": 0.01, "jobs": [job(cmd="sleep 60", folds=None)]}, env={"SANDGLASS_STALL_S": "1"})
        self.assertEqual(ran.states, {("idea", None): "failed"})
        self.assertIn("Stalled", ran.run["tasks"][0]["error"])

    def test_a_chosen_stall_time_comes_with_the_config(self):
        ran = self.session({"jobs": [job(cmd="echo up; sleep 60", folds=None)], "stall_s": 0.3})
        self.assertEqual((ran.states["idea", None], ran.code), ("failed", 1), ran.output)
        self.assertIn("Stalled: no output and no new score for 0 s", ran.run["tasks"][0]["error"])
        self.assertLess(ran.run["elapsed_s"], 45)

    def test_nothing_is_killed_before_twenty_minutes_unless_chosen(self):
        def session(hours, **config):
            return tasks.Session(config, None, tools.Clock(hours, 0.0), None, "", self.working)
        self.assertEqual((session(2).stall, session(2).stall_chosen), (1200.0, False))
        self.assertEqual(session(0.5).stall, 0.0)  # a cap that leaves no room for it
        self.assertEqual((session(2, stall_s=0.0).stall, session(2, stall_s=90).stall), (0.0, 90.0))

    def test_what_a_whole_machine_command_saved_is_worth_collecting(self):
        cmd = "mkdir -p artifacts/idea; echo state > artifacts/idea/last.pt; echo half > artifacts/idea/last.pt.tmp9; sleep 60"
        ran = self.session({"hours": 5 / 3600, "jobs": [job(cmd=cmd, folds=None)]})
        self.assertEqual((ran.states, ran.run["outcome"], ran.code), ({("idea", None): "killed"}, "partial", 0))
        self.assertEqual(os.listdir(os.path.join(self.working, "artifacts/idea")), ["last.pt"])

    def test_a_busy_task_that_says_nothing_is_stalled_when_the_time_was_chosen(self):
        ran = self.session({"jobs": [job(cmd="python -c 'while True: pass'", folds=None)], "stall_s": 0.8})
        self.assertEqual(ran.states, {("idea", None): "failed"})
        self.assertIn("no output and no new score", ran.run["tasks"][0]["error"])

    def test_a_killed_runner_leaves_a_true_record(self):
        slow = "python src/train.py --sleep 0.2 --folds {fold}"
        config = {"jobs": [job(cmd=slow, folds=range(4))]}
        for done in (0, 1, 3):
            with self.subTest(done):
                self.setUp()
                process = self.start(config, env={"SANDGLASS_WORKERS": "1"})
                seen = 0
                for line in process.stdout:
                    seen += b'"state": "done"' in line
                    if seen >= done and b'"state": "running"' in line:
                        break
                time.sleep(0.1)  # run.json is written right after the line
                process.kill()
                process.wait()
                process.stdout.close()
                kill_all([p for p in pids_with("src/train.py") if os.path.realpath("/proc/%d/cwd" % p) == self.scratch])
                run = self.json("run.json")
                self.assertEqual([t["state"] for t in run["tasks"]][:done], ["done"] * done)
                self.assertEqual([t["state"] for t in run["tasks"]][done], "running")
                self.assertEqual(run["outcome"], "")
                for row in (self.json("manifest.json") or {"files": []})["files"]:
                    with open(os.path.join(self.working, row["path"]), "rb") as f:
                        self.assertEqual(hashlib.sha256(f.read()).hexdigest(), row["sha256"], row["path"])


class Resume(Case):
    BASE = "input/notebooks/sam-roe/"

    def test_a_fold_pruned_in_a_later_session_is_not_trained_again(self):
        self.put(self.BASE + "first/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "timeout", "next_epoch": 1}')
        self.put(self.BASE + "first/artifacts/idea/fold0_resume.pt", "1")
        self.put(self.BASE + "second/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "pruned", "best": 0.3}')
        ran = self.session({"resume": ["sam-roe/first", "sam-roe/second"], "jobs": [job(folds=[0, 1])]})
        self.assertEqual(ran.states, {("idea", 0): "pruned", ("idea", 1): "done"})

    def test_weights_are_found_where_they_were_trained(self):
        self.put(self.BASE + "first/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "done", "best": 0.9}')
        self.put(self.BASE + "first/artifacts/idea/fold0_oof.npy", "first")
        self.put(self.BASE + "first/artifacts/idea/fold0.pt", "weights")
        # The second took the fold over and has no weights; the third was killed before it had linked anything.
        self.put(self.BASE + "second/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "done", "best": 0.9}')
        for name in ("second", "third"):
            self.put(self.BASE + name + "/run.json", '{"tasks": [{"job": "idea", "fold": 0, "state": "skipped", "best": 0.9}]}')
        os.makedirs(os.path.join(self.dir, self.BASE, "third/artifacts/idea"))
        ran = self.session({"resume": ["sam-roe/first", "sam-roe/second", "sam-roe/third"], "jobs": [job(folds=[0])],
                            "post": ["cat artifacts/idea/fold0.pt artifacts/idea/fold0_oof.npy > subs/seen.txt"]})
        self.assertEqual(self.read("subs/seen.txt"), "weightsfirst", ran.output)
        self.assertEqual(ran.run["tasks"][0]["best"], 0.9)

    def test_predictions_of_a_task_that_was_cut_off_are_no_proof(self):
        self.put(self.BASE + "idea-train/artifacts/idea/fold0_oof.npy", "half")
        self.put(self.BASE + "idea-train/artifacts/idea/fold0_resume.pt", "2")
        self.put(self.BASE + "idea-train/artifacts/idea/fold0_resume.pt.tmp77", "half")
        self.put(self.BASE + "idea-train/run.json", '{"tasks": [{"job": "idea", "fold": 0, "state": "running"}]}')
        ran = self.session({"resume": ["sam-roe/idea-train"], "jobs": [job(folds=[0])]})
        self.assertIn("fold 0 starts at epoch 2", ran.output)
        self.assertEqual([n for n in os.listdir(os.path.join(self.working, "artifacts/idea")) if "tmp" in n], [])

    def test_a_whole_machine_command_goes_on_from_the_latest_session(self):
        for name, text in (("first", "1"), ("second", "2")):
            self.put(self.BASE + name + "/artifacts/idea/last.pt", text)
            self.put(self.BASE + name + "/run.json", '{"tasks": [{"job": "idea", "fold": null, "state": "killed"}]}')
        self.session({"resume": ["sam-roe/first", "sam-roe/second"], "jobs": [job(cmd="cat artifacts/idea/last.pt > subs/seen.txt", folds=None)]})
        self.assertEqual(self.read("subs/seen.txt"), "2")

    CMD = "python src/train.py --epochs %d --sleep %s --folds {fold}"

    def test_a_chain_of_sessions(self):
        # One fold done, one out of time, one failed, one not reached.
        first = self.session({"hours": 8 / 3600, "jobs": [job(cmd="python src/train.py --epochs $((1 + 999 * ({fold} == 1))) --sleep 0.1 --fail 2 --folds {fold}", folds=range(3))]})
        self.assertEqual([first.states["idea", k] for k in range(3)], ["done", "timeout", "failed"], first.output)
        reached = first.run["tasks"][1]["epochs"]
        mount = self.next_session()
        before = {n: os.stat(os.path.join(mount, "artifacts/idea", n)).st_mtime_ns for n in os.listdir(os.path.join(mount, "artifacts/idea"))}
        for n in before:
            os.chmod(os.path.join(mount, "artifacts/idea", n), 0o444)
        second = self.session({"resume": ["sam-roe/idea-train"], "jobs": [job(cmd=self.CMD % (reached + 2, 0), folds=range(3))],
                               "post": ["ls -l artifacts/idea > subs/seen.txt"]})
        self.assertEqual([second.states["idea", k] for k in range(3)], ["skipped", "done", "done"], second.output)
        self.assertIn("fold 1 starts at epoch %d" % reached, second.output)
        self.assertIn("fold 2 starts at epoch 0", second.output)
        self.assertNotIn("fold 0 starts", second.output)
        self.assertIn("fold0.pt -> " + mount, self.read("subs/seen.txt"))  # linked while the session ran
        self.assertEqual(second.run["outcome"], "complete")
        self.assertIs(second.run["jobs"][0]["assembled"], True)
        kept = os.listdir(os.path.join(self.working, "artifacts/idea"))
        self.assertIn("fold0_oof.npy", kept)
        self.assertNotIn("fold0.pt", kept)  # only new weights are written
        self.assertIn("fold1.pt", kept)
        self.assertFalse([n for n in kept if os.path.islink(os.path.join(self.working, "artifacts/idea", n))])
        self.assertEqual(before, {n: os.stat(os.path.join(mount, "artifacts/idea", n)).st_mtime_ns for n in before})
        # A third session needs only the second one's output.
        self.next_session("sam-roe/idea-train-r2")
        third = self.session({"resume": ["sam-roe/idea-train-r2"], "jobs": [job(folds=range(3))]})
        self.assertEqual(set(third.states.values()), {"skipped"})
        self.assertEqual((third.code, third.run["outcome"]), (0, "complete"))

    def test_pruned_folds_are_not_trained_again(self):
        self.put("input/notebooks/sam-roe/idea-train/artifacts/idea/fold0_status.json", '{"fold": 0, "status": "pruned", "best": 0.3}')
        ran = self.session({"resume": ["sam-roe/idea-train"], "jobs": [job(folds=[0, 1])]})
        self.assertEqual(ran.states, {("idea", 0): "pruned", ("idea", 1): "done"})
        self.assertNotIn("fold 0 starts", ran.output)

    def test_a_hard_killed_fold_goes_on_from_its_checkpoint(self):
        base = "input/notebooks/sam-roe/idea-train/"
        self.put(base + "artifacts/idea/fold0_resume.pt", "2")
        self.put(base + "run.json", '{"tasks": [{"job": "idea", "fold": 0, "state": "running"}]}')
        ran = self.session({"resume": ["sam-roe/idea-train"], "jobs": [job(folds=[0])]})
        self.assertIn("fold 0 starts at epoch 2", ran.output)

    def test_packed_folds_are_opened(self):
        writer = "import os,sys\nk=sys.argv[1]\nos.makedirs('artifacts/idea',exist_ok=True)\nprint('ran', k)\n" \
                 "for n in ['oof']+list(range(500)): open('artifacts/idea/fold%s_%s.npy'%(k,n),'w').write('x')\n"
        config = {"jobs": [job(cmd="python src/many.py {fold}", folds=[0])]}
        self.session(config, {"src/many.py": writer})
        self.next_session()
        ran = self.session(dict(config, resume=["sam-roe/idea-train"], post=["ls artifacts/idea | wc -l > subs/n.txt"]), {"src/many.py": writer})
        self.assertEqual(ran.states, {("idea", 0): "skipped"}, ran.output)
        self.assertGreaterEqual(int(self.read("subs/n.txt")), 501)

    def test_a_missing_kernel_is_told(self):
        ran = self.session({"resume": ["sam-roe/gone"]})
        self.assertEqual(ran.code, 0)
        self.assertIn("resume-missing", ran.findings)


if __name__ == "__main__":
    unittest.main()
