"""A trainer is killed with its whole session at random moments, again and again, and resumed each time: the final result
is that of an unbroken run, no finished fold is trained twice, and no kill costs more than save_every.

    SANDGLASS_KILLS=200 python3 -m unittest runnerpack/session/tests/test_checkpoint.py      more than the usual 20 kills
"""

import collections
import json
import os
import random
import signal
import time
import unittest

from harness import Case, job

SAVE_EVERY = 5   # minutes of the trainer's own clock; a step takes one
EPOCHS, STEPS, FOLDS = 3, 40, 3

# Deterministic: what a step makes of the state depends on the seed, the fold and the steps before it, so a step that is
# lost, or done twice, changes the result. Its clock counts steps, so save_every is exact on any machine.
TRAINER = r'''
import argparse, hashlib, json, os, time
from sandglass.atomic import read_json, write_json
from sandglass.budget import TrainBudget
SAVE_EVERY, EPOCHS, STEPS = %d, %d, %d
p = argparse.ArgumentParser()
p.add_argument("--folds", type=int, nargs="+", default=[])
p.add_argument("--assemble", action="store_true")
a = p.parse_args()
out = "artifacts/idea"
os.makedirs(out, exist_ok=True)
ledger = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
def tell(*words):
    os.write(ledger, (" ".join(map(str, words)) + "\n").encode())
if a.assemble:
    folds = {n[4:-9]: read_json(os.path.join(out, n)) for n in sorted(os.listdir(out)) if n.endswith("_oof.json")}
    digest = hashlib.sha256(json.dumps(folds, sort_keys=True).encode()).hexdigest()
    write_json(os.path.join(out, "score.json"), {"score": int(digest[:8], 16) / 2**32, "metric": "digest", "greater_is_better": True,
                                                 "fold_scores": {k: v["best"] for k, v in folds.items()}, "digest": digest})
for k in a.folds:
    resume = os.path.join(out, "fold%%d_resume.json" %% k)
    saved = read_json(resume) or {"done": 0, "state": hashlib.sha256(b"seed 7 fold %%d" %% k).hexdigest(), "best": -1.0}
    done, state, best = saved["done"], saved["state"], saved["best"]
    tell("start", k, done)
    budget = TrainBudget(out, k, EPOCHS, save_every=SAVE_EVERY, clock=lambda: 60.0 * done)
    def save():
        write_json(resume, {"done": done, "state": state, "best": best})
        budget.saved()
    for epoch in range(done // STEPS, EPOCHS):
        budget.start_epoch()
        while done < (epoch + 1) * STEPS:
            time.sleep(0.001)
            state = hashlib.sha256((state + str(done)).encode()).hexdigest()
            done += 1
            tell("step", k, done)
            if done == (epoch + 1) * STEPS:
                score = int(state[:8], 16) / 2**32
                best = max(best, score)
                budget.end_epoch(epoch, score)
                save()
            elif budget.tick():
                save()
    write_json(os.path.join(out, "fold%%d_oof.json" %% k), {"state": state, "best": best})
    budget.write_status("done")
    tell("done", k, done)
''' % (SAVE_EVERY, EPOCHS, STEPS)


def family(working):
    """Every process that knows this working folder from its environment: the session and all that it started."""
    mark, out = ("KAGGLE_WORKING=" + working).encode(), []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if mark in f.read().split(b"\0"):
                    out.append(int(name))
        except OSError:
            pass
    return out


@unittest.skipUnless(os.path.isdir("/proc/self"), "needs /proc to find a process tree")
class Kills(Case):
    CONFIG = {"jobs": [job(cmd="python src/steps.py --folds {fold}", folds=range(FOLDS))]}

    def begin(self, resume=()):
        return self.start(dict(self.CONFIG, resume=list(resume)), {"src/steps.py": TRAINER}, {"LEDGER": os.path.join(self.dir, "ledger")})

    def ledger(self):
        try:
            with open(os.path.join(self.dir, "ledger")) as f:
                return [(w, int(k), int(n)) for w, k, n in map(str.split, f.read().splitlines())]
        except OSError:
            return []

    def result(self):
        """What the run amounts to: score, predictions and curves. Times aside, they are part of no result."""
        out = {"score.json": self.json("artifacts/idea/score.json")}
        for k in range(FOLDS):
            out["oof", k] = self.json("artifacts/idea/fold%d_oof.json" % k)
            out["curve", k] = [(p["epoch"], p["score"]) for p in self.json("artifacts/idea/curve_fold%d.json" % k)["points"]]
        return out

    def kill(self, process):
        """SIGKILL to the session and everything of it, as when Kaggle takes the machine away."""
        process.send_signal(signal.SIGKILL)
        while True:
            pids = family(self.working)
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            if not [p for p in pids if p != process.pid]:
                break
        process.communicate()

    def mount(self, number):
        """The killed session's output as the next one sees it: Kaggle keeps files, and no links out of the folder."""
        for folder, dirs, names in os.walk(self.working):
            for name in dirs + names:
                if os.path.islink(os.path.join(folder, name)):
                    os.unlink(os.path.join(folder, name))
        self.next_session("sam-roe/idea-r%d" % number)
        return "sam-roe/idea-r%d" % number

    def check(self, ledger):
        """(steps lost by the worst kill, folds that were finished and begun again)."""
        reached, finished, lost, again = collections.Counter(), set(), 0, []
        for word, fold, steps in ledger:
            if word == "start":
                lost = max(lost, reached[fold] - steps)
                again += [fold] if fold in finished else []
                reached[fold] = steps
            elif word == "step":
                self.assertEqual(steps, reached[fold] + 1)
                reached[fold] = steps
            else:
                finished.add(fold)
        return lost, again

    def test_killed_at_any_moment_and_resumed_to_the_same_result(self):
        wanted, seed = int(os.environ.get("SANDGLASS_KILLS", "20")), int(os.environ.get("SANDGLASS_SEED", "7"))
        began = time.time()
        process = self.begin()
        output = process.communicate(timeout=120)[0]
        whole = time.time() - began
        self.assertEqual(process.returncode, 0, output)
        unbroken, moments = self.result(), random.Random(seed)
        self.assertIsNotNone(unbroken["score.json"])
        kills = chains = worst = begun = 0
        while kills < wanted or chains == 0:
            self.doCleanups()
            self.setUp()
            earlier = []
            while True:
                process = self.begin(earlier)
                try:
                    # At least half of the moments lie in the training and not before it.
                    output = process.communicate(timeout=moments.uniform(0.02, 1.0) * whole if kills < wanted else 120)[0]
                    break
                except Exception as e:
                    if type(e).__name__ != "TimeoutExpired":
                        raise
                    self.kill(process)
                    kills += 1
                    earlier.append(self.mount(len(earlier)))
            self.assertEqual(process.returncode, 0, output)
            lost, again = self.check(self.ledger())
            self.assertEqual(again, [], "finished folds were trained again")
            self.assertLessEqual(lost, SAVE_EVERY)
            self.assertEqual(self.result(), unbroken, "seed %d, chain %d" % (seed, chains))
            self.assertEqual(self.json("run.json")["outcome"], "complete")
            worst, chains, begun = max(worst, lost), chains + 1, begun + len([1 for w, _, n in self.ledger() if w == "start" and n])
        if wanted > 20:
            print("%d kills in %d chains, %d folds continued from a checkpoint, worst loss %d of %d minutes" % (kills, chains, begun, worst, SAVE_EVERY))
        self.assertGreater(begun, 0)


if __name__ == "__main__":
    unittest.main()
