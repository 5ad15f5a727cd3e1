"""Fills the runner's template as the packer does, and runs it as Kaggle does: a process of its own."""

import base64
import bz2
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest

SESSION = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, SESSION)

# A trainer that keeps the contract. What it does besides is said by switches.
TRAIN = r'''
import argparse, json, os, sys, time
from kgkit.budget import TrainBudget
p = argparse.ArgumentParser()
p.add_argument("--name", default="idea")
p.add_argument("--folds", type=int, nargs="+", default=[])
p.add_argument("--assemble", action="store_true")
p.add_argument("--epochs", type=int, default=3)
p.add_argument("--sleep", type=float, default=0.0)
p.add_argument("--level", type=float, default=0.5)
p.add_argument("--fail", type=int, nargs="*", default=[])
p.add_argument("--flaky", action="store_true")
a = p.parse_args()
out = os.path.join("artifacts", a.name)
os.makedirs(out, exist_ok=True)
if a.assemble:
    folds = sorted(int(n[4:-8]) for n in os.listdir(out) if n.startswith("fold") and n.endswith("_oof.npy"))
    open(os.path.join(out, "score.json"), "w").write(json.dumps(
        {"score": 0.7, "metric": "accuracy", "greater_is_better": True, "fold_scores": {str(k): 0.7 for k in folds}}))
    sys.exit(0)
for k in a.folds:
    with open(os.path.join(out, "env_fold%d.json" % k), "w") as f:
        json.dump(dict(os.environ, _python=sys.executable), f)
    mark = os.path.join(out, "tried%d" % k)
    if k in a.fail or (a.flaky and not os.path.exists(mark)):
        open(mark, "w").close()
        raise ValueError("cannot train fold %d" % k)
    resume = os.path.join(out, "fold%d_resume.pt" % k)
    start = int(open(resume).read()) if os.path.exists(resume) else 0
    print("fold %d starts at epoch %d" % (k, start), flush=True)
    budget = TrainBudget(out, k, a.epochs)
    verdict = "continue"
    for epoch in range(start, a.epochs):
        budget.start_epoch()
        time.sleep(a.sleep)
        verdict = budget.end_epoch(epoch, a.level + 0.01 * epoch)
        with open(resume, "w") as f:
            f.write(str(epoch + 1))
        if verdict != "continue":
            break
    if verdict == "timeout":
        budget.write_status("timeout", next_epoch=epoch + 1)
    elif verdict == "prune":
        budget.write_status("pruned", epoch=epoch)
    else:
        for part in ("oof.npy", "idx.npy"):
            open(os.path.join(out, "fold%d_%s" % (k, part)), "w").write("x")
        open(os.path.join(out, "fold%d.pt" % k), "w").write("weights of this session")
        budget.write_status("done")
'''

COMMAND = "python src/train.py --name idea --folds {fold}"


def job(name="idea", cmd=COMMAND, folds=(0, 1), **more):
    return dict({"name": name, "cmd": cmd, "folds": list(folds) if folds is not None else None}, **more)


def script(config, files, splits=()):
    """The text of a session script. files: {path in the payload: text or bytes}."""
    with open(os.path.join(SESSION, "bootstrap.py"), encoding="ascii") as f:
        text = f.read()
    content = {"src/train.py": TRAIN}
    for name in os.listdir(SESSION):
        if name.endswith(".py") and name != "bootstrap.py":
            with open(os.path.join(SESSION, name), "rb") as f:
                content["_sandglass/" + name] = f.read()
    for package in ("sandglass", "kgkit"):
        for name in os.listdir(os.path.join(SESSION, package)):
            if name.endswith(".py"):
                with open(os.path.join(SESSION, package, name), "rb") as f:
                    content[package + "/" + name] = f.read()
    content.update(files)
    tables, places = b"", {}
    for name in [n for n in sorted(content) if n.startswith("_sandglass/splits/")]:
        data = content.pop(name)
        places[name] = [len(tables), len(data)]
        tables += data
    if places:
        content["_sandglass/tables.json"] = json.dumps(places)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name in sorted(content):
            data = content[name] if isinstance(content[name], bytes) else content[name].encode()
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    packed = bz2.compress(raw.getvalue()) + tables
    full = {"schema": 1, "name": "idea", "kernel": "sam-roe/idea-train", "build_id": "idea-train@1", "accelerator": "none", "hours": 0.5,
            "post": [], "pip": [], "wheels": [], "inputs": [], "layout": "flat", "resume": [], "prune": None, "allow_any_device": False,
            "allow_missing_inputs": False, "retry": 0, "durations": {}, "splits": list(splits), "jobs": [job()]}
    full.update(config)
    marks = {"@@DOC@@": "A test session.", "@@CONFIG@@": json.dumps(full, indent=1), "@@PAYLOAD_SHA256@@": hashlib.sha256(packed).hexdigest(),
             "@@PAYLOAD@@": base64.b85encode(packed).decode()}
    for mark, value in marks.items():
        if text.count(mark) != 1:
            raise AssertionError("%s occurs %d times in the template" % (mark, text.count(mark)))
    for mark in ("@@DOC@@", "@@CONFIG@@", "@@PAYLOAD_SHA256@@", "@@PAYLOAD@@"):
        text = text.replace(mark, marks[mark])
    return text


class Ran:
    """What a session left behind."""

    def __init__(self, case, code, output):
        self.working, self.code, self.output = case.working, code, output
        self.run = case.json("run.json")
        self.manifest = case.json("manifest.json")

    @property
    def states(self):
        return {(t["job"], t["fold"]): t["state"] for t in self.run["tasks"]}

    @property
    def findings(self):
        return {f["code"]: f["text"] for f in self.run["findings"]}

    def telemetry(self, kind):
        rows = [json.loads(line[len("::sandglass "):]) for line in self.output.splitlines() if line.startswith("::sandglass ")]
        return [r for r in rows if r["k"] == kind]


class Case(unittest.TestCase):
    """A folder for each test, with the mounts and the working folder of one session."""

    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sandglass-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.input, self.working, self.scratch = (os.path.join(self.dir, n) for n in ("input", "working", "scratch"))
        for folder in (self.input, self.working):
            os.makedirs(folder)

    def put(self, path, text="x"):
        """Writes a file under the test's folder."""
        full = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)
        return full

    def json(self, name):
        try:
            with open(os.path.join(self.working, name), encoding="utf-8") as f:
                return json.load(f)
        except OSError:
            return None

    def start(self, config=None, files=None, env=None, splits=()):
        path = self.put("script.py", script(config or {}, files or {}, splits))
        full = {k: v for k, v in os.environ.items() if not k.startswith(("KG_", "SANDGLASS_", "KAGGLE_", "CUDA_", "TPU_", "OMP_"))}
        full.update(KAGGLE_INPUT=self.input, KAGGLE_WORKING=self.working, SANDGLASS_RUN_DIR=self.scratch, SANDGLASS_WORKERS="2")
        full.update(env or {})
        return subprocess.Popen([sys.executable, path], cwd=self.working, env=full, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def session(self, config=None, files=None, env=None, splits=()):
        process = self.start(config, files, env, splits)
        try:
            output = process.communicate(timeout=120)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Ran(self, process.returncode, output)

    def next_session(self, ref="sam-roe/idea-train"):
        """Makes this session's output a mounted kernel output, read-only, and empties the working folder."""
        mount = os.path.join(self.input, "notebooks", ref)
        os.makedirs(os.path.dirname(mount), exist_ok=True)
        os.rename(self.working, mount)
        os.makedirs(self.working)
        return mount

    def read(self, path):
        with open(os.path.join(self.working, path), encoding="utf-8") as f:
            return f.read()

    def env_of(self, fold, name="idea"):
        return self.json("artifacts/%s/env_fold%d.json" % (name, fold))


def pids_with(text):
    """Live processes whose command line contains text."""
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/cmdline" % name, "rb") as f:
                    if text.encode() in f.read():
                        out.append(int(name))
            except OSError:
                pass
    return out


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
