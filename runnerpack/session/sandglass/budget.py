"""Ends training in time: TrainBudget for loops of epochs, Deadline for every other loop.

The session tells its tasks by environment variables what they may use. Without them (on a laptop) there is no limit
and nothing is pruned, so a script needs no second code path.

    KG_DEADLINE         unix seconds by which state must be saved
    KG_RESERVE_S        s kept free after the last epoch for test inference and saving (600)
    KG_PRUNE_BASELINE   folder with the baseline's curve_fold<k>.json, or one such file
    KG_PRUNE_MARGIN     score units a fold may trail the baseline; without it nothing is pruned
    KG_PRUNE_MARGIN_FOLD<k>  the same for one fold: the noise between its own seeds
    KG_PRUNE_MIN_FRAC   share of the schedule before which nothing is pruned (0.3)
"""

import importlib
import math
import os
import re
import time

from sandglass.atomic import read_json, write_json

FIRST_SAVE = 60.0   # s kept free to save state between two epochs


def _number(env, name, default):
    try:
        value = float(env.get(name, ""))
    except ValueError:
        return default
    return value if math.isfinite(value) else default


class Deadline:
    """How much time is left, for loops that are not epochs: boosting rounds, stackers, chunks of a test set.

        deadline = Deadline()
        for chunk in chunks:
            if deadline.should_stop():
                break
            predict(chunk)
            deadline.step()

    step() measures the loop, so that should_stop() is true when the next round would not fit. reserve is what is kept
    free for saving, in seconds (60, or KG_RESERVE_S if that is less). stopped says afterwards whether time ended it.
    """

    def __init__(self, reserve=None, env=None, clock=time.time):
        env = os.environ if env is None else env
        self.at, self._clock = _number(env, "KG_DEADLINE", None), clock
        self.reserve = min(FIRST_SAVE, _number(env, "KG_RESERVE_S", 600.0)) if reserve is None else float(reserve)
        self.stopped, self._last, self._longest = False, clock(), 0.0

    def left(self):
        """Seconds until state must be saved; infinity without a limit, below zero when it is past."""
        return math.inf if self.at is None else self.at - self._clock()

    def step(self):
        """Call after each round: its time is remembered."""
        now = self._clock()
        self._longest, self._last = max(self._longest, now - self._last), now

    def should_stop(self):
        """True when another round as long as the longest so far, and the saving, would not fit."""
        self.stopped = self.stopped or self.left() < 1.15 * self._longest + self.reserve
        return self.stopped

    def __getattr__(self, name):
        """lightgbm(), xgboost(), catboost(), lightning(), keras() and transformers(): a callback that stops that framework in
        time. They are in sandglass/callbacks.py, which is imported when one is asked for."""
        if name not in ("lightgbm", "xgboost", "catboost", "lightning", "keras", "transformers"):
            raise AttributeError("a Deadline has no %r" % name)
        return getattr(importlib.import_module("sandglass.callbacks").Stop(self), name)


class TrainBudget:
    """Watches one fold: records its learning curve, and says when to save, to stop in time, or to give up.

        budget = TrainBudget("artifacts/idea", fold=0, epochs=15)
        for epoch in range(start, 15):
            budget.start_epoch()
            for batch in loader:
                train(batch)
                if budget.tick():            # save now: the deadline is near, or the last save is long ago
                    save_checkpoint()
                    budget.saved()
            verdict = budget.end_epoch(epoch, score)
            if verdict != "continue":        # "timeout": save and stop.  "prune": stop
                break

    out_dir            folder of the job, artifacts/<name>; made if missing
    epochs             of the whole schedule, at least 1
    greater_is_better  direction of the score
    env                variables to use instead of os.environ
    start_epoch        the epoch this process begins with, if the script knows it. 0 forgets an earlier run's curve at
                       once; otherwise that happens when epoch 0 ends, so that a fold that starts again under the same
                       name does not keep the old run's best.
    save_every         minutes between two saves that tick() asks for (20)
    clock              seconds since the epoch

    Under torchrun or accelerate ask on rank 0 alone and broadcast what it says: each rank has a clock of its own, and one
    that stops without the others leaves them waiting.

    asked is why tick() last wanted a save: "deadline", "interval" or None. last_save is when there was one, unix seconds.

    An existing curve_fold<k>.json is loaded: a resumed fold goes on where it was. next_epoch is the first epoch
    without a point. Scores that are not numbers (NaN) get no point, because JSON has no word for them.
    """

    def __init__(self, out_dir, fold, epochs, greater_is_better=True, env=None, start_epoch=None, save_every=20.0, clock=time.time):
        env = os.environ if env is None else env
        self.out_dir, self.fold, self.epochs, self.greater_is_better = os.fspath(out_dir), fold, max(1, int(epochs)), bool(greater_is_better)
        self.deadline = _number(env, "KG_DEADLINE", None)
        self.reserve = _number(env, "KG_RESERVE_S", 600.0)
        self.margin = _number(env, "KG_PRUNE_MARGIN_FOLD%s" % fold, _number(env, "KG_PRUNE_MARGIN", None))
        self.min_frac = _number(env, "KG_PRUNE_MIN_FRAC", 0.3)
        self.save_every = 60.0 * save_every
        self._clock, self._began, self._last_tick, self._longest_tick, self.last_save, self._save_took = clock, None, None, 0.0, clock(), 0.0
        self.asked = None
        self.curve_path = os.path.join(self.out_dir, "curve_fold%s.json" % fold)
        os.makedirs(self.out_dir, exist_ok=True)
        self.points = [] if start_epoch == 0 else _points(read_json(self.curve_path))
        if start_epoch:
            self.points = [p for p in self.points if p["epoch"] < start_epoch]
        self.best = self._best(self.points)
        self.baseline, self.baseline_epochs = _baseline(env.get("KG_PRUNE_BASELINE"), fold)

    # -- time

    @property
    def next_epoch(self):
        """The first epoch after the recorded ones. What to start with is the checkpoint's to say; this is its check."""
        return self.points[-1]["epoch"] + 1 if self.points else 0

    def left(self):
        """Seconds until state must be saved; infinity without a limit."""
        return math.inf if self.deadline is None else self.deadline - self._clock()

    def start_epoch(self):
        """Notes the time at which an epoch begins."""
        self._began = self._last_tick = self._clock()

    def tick(self):
        """Call inside the batch loop. True when state must be saved now.

        That is once when the deadline comes within reach (the longest step so far, the last save's time and the
        reserve of 60 s at most), even in a first or very long epoch; and whenever the last save is save_every minutes
        ago. Save, call saved(), and go on: the epoch may still finish, and a kill then costs nothing.
        """
        now = self._clock()
        if self._last_tick is not None:
            self._longest_tick = max(self._longest_tick, now - self._last_tick)
        self._last_tick = now
        near = self.left() < min(FIRST_SAVE, self.reserve) + 2 * self._longest_tick + 1.5 * self._save_took
        if near and self.asked != "deadline":
            self.asked = "deadline"
            self._asked_since = now
            return True
        if now - self.last_save >= self.save_every and self.asked is None:
            self.asked, self._asked_since = "interval", now
            return True
        return False

    def saved(self):
        """Call after saving: the next save is due save_every minutes from now."""
        now = self._clock()
        if self.asked is not None:
            self._save_took = now - self._asked_since
        if self.asked == "interval":
            self.asked = None
        self.last_save = self._last_tick = now

    # -- the verdict

    def end_epoch(self, epoch, score):
        """Records the epoch's score, counted from 0. Returns "continue", "timeout" or "prune".

        "timeout": the next epoch would not end in time, so save and stop. It is never said after the last epoch.
        """
        now = self._clock()
        seconds = None if self._began is None else round(now - self._began, 3)
        self._began = None
        self.points = [p for p in self.points if p["epoch"] < epoch]
        if isinstance(score, (int, float)) or hasattr(score, "__float__"):
            value = float(score)
            if math.isfinite(value):
                self.points.append({"epoch": int(epoch), "score": value, "seconds": seconds})
        self.best = self._best(self.points)
        verdict = self._verdict(epoch, seconds)
        curve = {"fold": self.fold, "epochs": self.epochs, "greater_is_better": self.greater_is_better, "points": self.points}
        if verdict != "continue":
            curve["verdict"] = verdict  # a script that stops on it and forgets the status has not finished the fold
        write_json(self.curve_path, curve)
        return verdict

    def _verdict(self, epoch, seconds):
        if epoch + 1 >= self.epochs:
            return "continue"
        if self.should_prune(epoch):
            return "prune"
        mean = self.epoch_seconds() or seconds
        if self.deadline is not None and mean is not None:
            last_is_next = epoch + 2 >= self.epochs
            if self.left() < 1.15 * mean + (self.reserve if last_is_next else min(FIRST_SAVE, self.reserve)):
                return "timeout"
        return "continue"

    def should_prune(self, epoch):
        """True when the best score so far trails the baseline's best at the same share of the schedule by more than
        the margin. Never before min_frac of it."""
        frac = (epoch + 1) / self.epochs
        if not self.baseline or self.margin is None or self.best is None or frac < self.min_frac:
            return False
        reference = self._best([p for p in self.baseline if (p["epoch"] + 1) / self.baseline_epochs <= frac + 1e-9])
        if reference is None:
            return False
        gap = reference - self.best if self.greater_is_better else self.best - reference
        return gap > self.margin

    def epoch_seconds(self):
        """Mean seconds an epoch, or None."""
        times = [p["seconds"] for p in self.points if p.get("seconds") is not None]
        return sum(times) / len(times) if times else None

    def _best(self, points):
        scores = [p["score"] for p in points]
        if not scores:
            return None
        return max(scores) if self.greater_is_better else min(scores)

    # -- the end of a fold

    def write_status(self, status, **info):
        """Writes fold<k>_status.json. status: done, timeout, pruned or failed.

        Give next_epoch with timeout and epoch with pruned. The call belongs at the end, after the predictions or the
        checkpoint are on disk: the session believes it.
        """
        mean = self.epoch_seconds()
        row = {"fold": self.fold, "status": status, "best": self.best, "epochs_run": len(self.points),
               "epoch_seconds": None if mean is None else round(mean, 3), "time": time.strftime("%Y-%m-%dT%H:%M:%S")}
        row.update((k, None if isinstance(v, float) and not math.isfinite(v) else v) for k, v in info.items())
        write_json(os.path.join(self.out_dir, "fold%s_status.json" % self.fold), row)


def _points(curve):
    """The usable points of a curve file, by epoch."""
    found = {}
    for p in (curve.get("points") or () if isinstance(curve, dict) else ()):
        if isinstance(p, dict) and isinstance(p.get("epoch"), int) and isinstance(p.get("score"), (int, float)) and math.isfinite(p["score"]):
            found[p["epoch"]] = {"epoch": p["epoch"], "score": float(p["score"]), "seconds": p.get("seconds")}
    return [found[e] for e in sorted(found)]


def _baseline(path, fold):
    """The baseline's points for this fold and the length of its schedule in epochs."""
    if not path:
        return [], 0
    file = os.path.join(path, "curve_fold%s.json" % fold) if os.path.isdir(path) else path
    curve = read_json(file)
    points = _points(curve)
    named = re.search(r"curve_fold(\d+)", os.path.basename(file))
    if points and named and str(fold) != named.group(1):
        return [], 0  # one file was given, and it is another fold's
    epochs = curve.get("epochs") if isinstance(curve, dict) else None
    return points, epochs if isinstance(epochs, int) and epochs > 0 else len(points)
