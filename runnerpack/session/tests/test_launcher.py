"""Whole-machine jobs over several devices, started by the launcher that the script was written for."""

import os
import subprocess
import sys
import unittest

from harness import Case, job, pids_with

import jobs
import tools

# What a command becomes under torchrun and accelerate is in these two lines.
TORCHRUN = "python -m torch.distributed.run --standalone --nproc_per_node=2 "
ACCELERATE = "python -m accelerate.commands.launch --multi_gpu --num_processes=2 --num_machines=1 "


def torch_with_gloo():
    """The interpreter whose PyTorch can run two processes on gloo, or None."""
    code = "import torch.distributed as d, torch.distributed.run; assert d.is_gloo_available() if hasattr(d, 'is_gloo_available') else d.is_available()"
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if os.path.exists(python) and subprocess.call([python, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
            return python
    return None


class Words(unittest.TestCase):
    def test_the_command_is_handed_to_the_launcher(self):
        for cmd, want in (
                ("python src/ddp.py --epochs 3", "src/ddp.py --epochs 3"),
                ("python3 -u src/ddp.py", "src/ddp.py"),
                ("/usr/bin/python3.10 -m pkg.train --x 'a b'", "-m pkg.train --x 'a b'")):
            self.assertEqual(jobs.launched(cmd, "torchrun", 2), TORCHRUN + want)
            self.assertEqual(jobs.launched(cmd, "accelerate", 2), ACCELERATE + want)
        self.assertEqual(jobs.launched("TOKENIZERS_PARALLELISM=false python a.py", "torchrun", 2), "TOKENIZERS_PARALLELISM=false " + TORCHRUN + "a.py")
        self.assertEqual(jobs.launched("anything at all", "none", 2), "anything at all")
        self.assertNotIn("--multi_gpu", jobs.launched("python a.py", "accelerate", 1))

    def test_what_no_launcher_can_start_is_refused(self):
        for cmd in ("bash run.sh", "python -c 'print(1)'", "python", "cd src && python a.py"):
            with self.assertRaises(tools.Stop, msg=cmd):
                jobs.launched(cmd, "torchrun", 2)

    def test_a_fold_has_no_launcher_unless_it_is_wide(self):
        for wrong in (job(launcher="torchrun"), job(wide=[1]), job(launcher="none", wide=[1])):
            with self.assertRaises(tools.Stop):
                jobs.Job(wrong)
        j = jobs.Job(job(folds=range(3), launcher="torchrun", wide=[2]))
        self.assertEqual([jobs.Task(j, k).launcher for k in j.folds], ["none", "none", "torchrun"])


class Accelerate(Case):
    # The real package is not on this machine; this one shows what it would be asked.
    FAKE = "import json, os, sys\njson.dump([sys.argv[1:], os.environ.get('OMP_NUM_THREADS'), os.environ.get('CUDA_VISIBLE_DEVICES')], open('subs/asked.json', 'w'))\n"

    def test_accelerate_is_asked_for_both_cards(self):
        files = {"accelerate/__init__.py": "", "accelerate/commands/__init__.py": "", "accelerate/commands/launch.py": self.FAKE}
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(cmd="python src/ddp.py --x 1", folds=None, launcher="accelerate")]},
                           files, env={"SANDGLASS_FAKE_GPUS": "2"})
        self.assertEqual(ran.states, {("idea", None): "done"}, ran.output)
        asked, threads, cards = self.json("subs/asked.json")
        self.assertEqual(asked, ["--multi_gpu", "--num_processes=2", "--num_machines=1", "src/ddp.py", "--x", "1"])
        self.assertEqual(int(threads), max(1, tools.cpu_count() // 2))
        self.assertIsNone(cards)


    def test_an_extra_job_has_a_launcher_of_its_own(self):
        files = {"accelerate/__init__.py": "", "accelerate/commands/__init__.py": "", "accelerate/commands/launch.py": self.FAKE}
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(), job("big", "python src/ddp.py", None, launcher="accelerate")]},
                           files, env={"SANDGLASS_FAKE_GPUS": "2"})
        self.assertEqual(ran.states, {("idea", 0): "done", ("idea", 1): "done", ("big", None): "done"}, ran.output)
        self.assertEqual(self.json("subs/asked.json")[0], ["--multi_gpu", "--num_processes=2", "--num_machines=1", "src/ddp.py"])

    def test_a_wide_fold_runs_last_and_has_both_cards(self):
        # The launcher's place is taken by one that starts the script once, as rank 0 of it would.
        launch = "import json, os, sys\njson.dump([sys.argv[1:], sorted(os.listdir('artifacts/idea')), os.environ.get('CUDA_VISIBLE_DEVICES'), os.environ['SANDGLASS_FOLD']]," \
                 " open('subs/asked.json', 'w'))\nos.execv(sys.executable, [sys.executable] + sys.argv[4:])\n"
        files = {"accelerate/__init__.py": "", "accelerate/commands/__init__.py": "", "accelerate/commands/launch.py": launch}
        ran = self.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(folds=range(3), launcher="accelerate", wide=[2])]},
                           files, env={"SANDGLASS_FAKE_GPUS": "2", "SANDGLASS_WORKERS": ""})
        self.assertEqual((ran.states, ran.run["outcome"]), ({("idea", k): "done" for k in range(3)}, "complete"), ran.output)
        asked, there, cards, fold = self.json("subs/asked.json")
        self.assertEqual(asked, ["--multi_gpu", "--num_processes=2", "--num_machines=1", "src/train.py", "--name", "idea", "--folds", "2"])
        self.assertTrue({"fold0_oof.npy", "fold1_oof.npy"} <= set(there), "it did not wait for the others")
        self.assertEqual((cards, fold, {t["device"] for t in ran.run["tasks"]}), (None, "2", {"gpu0", "gpu1", "all"}))
        self.assertTrue(ran.run["jobs"][0]["assembled"])


# PyTorch 1.13 under Python 3.11, Debian's pair, reads its own default of --redirects as None. Found at start-up.
REPAIR = r'''
import sys
if "torch.distributed.run" in getattr(sys, "orig_argv", ()):
    from torch.distributed.elastic.multiprocessing.api import Std
    if Std.from_str("0") is None:
        kept = Std.from_str
        Std.from_str = classmethod(lambda cls, text: Std.NONE if text == "0" else kept(text))
'''

DDP = r'''
import json, os
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
total = torch.tensor([float(rank + 1)])
dist.all_reduce(total)
if rank == 0:
    os.makedirs("artifacts/idea", exist_ok=True)
    json.dump([size, total.item()], open("artifacts/idea/sum.json", "w"))
dist.barrier()
if rank == 1:
    raise ValueError("rank one has no data")
dist.barrier()
'''


class Torchrun(Case):
    python = None

    @classmethod
    def setUpClass(cls):
        cls.python = torch_with_gloo()
        if cls.python is None:
            raise unittest.SkipTest("no PyTorch with gloo on this machine")

    def ddp(self):
        # The session runs under the interpreter that has torch, as on Kaggle.
        kept, sys.executable = sys.executable, self.python
        try:
            return self.session({"accelerator": "NvidiaTeslaT4", "jobs": [
                job(cmd="python src/%s.py" % self.mark(), folds=None, launcher="torchrun")]},
                {"src/%s.py" % self.mark(): DDP, "sitecustomize.py": REPAIR}, env={"SANDGLASS_FAKE_GPUS": "2"})
        finally:
            sys.executable = kept

    def mark(self):
        return "ddp" + os.path.basename(self.dir).replace("-", "")

    def test_two_processes_add_up_and_one_failed_rank_is_one_failed_task(self):
        ran = self.ddp()
        self.assertEqual(self.json("artifacts/idea/sum.json"), [2, 3.0], ran.output)
        self.assertEqual(ran.states, {("idea", None): "failed"}, ran.output)
        self.assertIn("ValueError: rank one has no data", ran.run["tasks"][0]["error"])
        self.assertEqual(ran.telemetry("task")[-1]["error"], "ValueError: rank one has no data")
        self.assertNotEqual(ran.code, 0)
        self.assertEqual(pids_with(self.mark()), [])


if __name__ == "__main__":
    unittest.main()
