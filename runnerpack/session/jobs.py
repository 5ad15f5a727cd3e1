"""A job is a command of the session, a task one fold of it."""

import math
import os
import re
import time

from tools import Stop, curve_name, file_part, read_json, signature, status_name

LAUNCHERS = ("none", "torchrun", "accelerate")
PYTHON_COMMAND = re.compile(r"(?P<env>(?:\w+=\S*\s+)*)(?:\S*/)?python[\d.]*\s+(?P<options>(?:-[uBEsS]+\s+)*)(?!-[^m])(?P<rest>\S.*)", re.S)


class Job:
    """One command of the session and how its folds are joined."""

    def __init__(self, spec):
        self.name, self.cmd = spec["name"], spec["cmd"]
        self.by_fold = "{fold}" in self.cmd
        self.folds = [int(k) for k in spec.get("folds") or ()] if self.by_fold else []
        # A config without the key leaves it to us; null means that this run has nothing to join (a part of the folds).
        self.assemble = spec["assemble"] if "assemble" in spec else derive_assemble(self.cmd)
        self.assembled, self.score = None, {}
        self.wide = [int(k) for k in spec.get("wide") or ()] if self.by_fold else []  # folds that get every card, after the others
        self.launcher = spec.get("launcher") or "none"
        if self.launcher not in LAUNCHERS or self.by_fold and (self.launcher != "none") != bool(self.wide):
            raise Stop("bad-launcher", "The launcher of %s is %r; it is torchrun, accelerate or none, and a command with {fold} has one for its wide folds alone." % (
                self.name, self.launcher))
        launched(self.cmd, self.launcher, 1)  # refuses now what it could not start later
        if self.by_fold and not self.folds:
            raise Stop("no-folds", "The command of %s has {fold}, but no folds were given." % self.name)

    def tasks(self, tasks):
        return [t for t in tasks if t.job is self]

    def complete(self, tasks):
        mine = self.tasks(tasks)
        return bool(mine) and all(t.state in ("done", "skipped") for t in mine)

    def row(self, tasks):
        return {"name": self.name, "cmd": self.cmd, "folds": self.folds, "complete": self.complete(tasks),
                "assembled": self.assembled, "score": self.score.get("score"), "metric": str(self.score.get("metric") or ""),
                "greater": bool(self.score.get("greater_is_better", True))}


def launched(cmd, launcher, devices):
    """The command as the launcher that the script was written for starts it, once a device: torchrun or accelerate.

    Ports, ranks and the group's end are the launcher's affair; it takes the script (or -m module) and its arguments.
    """
    if launcher == "none":
        return cmd
    found = PYTHON_COMMAND.fullmatch(cmd.strip())
    if not found:
        raise Stop("bad-launcher", "%s starts a command of the form `python script.py ...` or `python -m module ...`, not: %s" % (launcher, cmd))
    start = "python -m torch.distributed.run --standalone --nproc_per_node=%d" % devices
    if launcher == "accelerate":
        start = "python -m accelerate.commands.launch %s--num_processes=%d --num_machines=1" % ("--multi_gpu " if devices > 1 else "", devices)
    return found["env"] + start + " " + found["rest"]


def derive_assemble(cmd):
    """The command with `--folds {fold}` or `--folds={fold}` replaced by `--assemble`, or None."""
    joined, n = re.subn(r"--folds(?:\s+|=)\{fold\}", "--assemble", cmd, count=1)
    return joined if n and "{fold}" not in joined else None


class Task:
    """One (job, fold). fold None: a command that gets the whole machine.

    state: waiting, running, done, timeout, pruned, failed, killed, skipped (an earlier session did it), not-started
    """

    def __init__(self, job, fold):
        self.job, self.fold, self.state = job, fold, "waiting"
        self.seconds, self.device, self.best, self.epochs, self.error = 0.0, "", None, 0, ""
        self.log = "logs/%s.log" % file_part(job.name if fold is None else "%s_fold%d" % (job.name, fold))
        self.attempts, self.continued, self.process, self.first_point, self.why = 0, False, None, None, ""
        self.before, self.curves, self.cpu, self.alive_at = {}, {}, 0.0, 0.0

    @property
    def launcher(self):
        """What starts it over every card, or "none"."""
        return self.job.launcher if self.fold is None or self.fold in self.job.wide else "none"

    def label(self):
        return self.job.name if self.fold is None else "%s/f%d" % (self.job.name, self.fold)

    def key(self):
        return "%s/%s" % (self.job.name, "all" if self.fold is None else self.fold)

    def row(self):
        state = "not-started" if self.state == "waiting" else self.state
        seconds = time.time() - self.process.started if self.state == "running" and self.process else self.seconds
        return {"job": self.job.name, "fold": self.fold, "state": state, "seconds": round(seconds, 2), "device": self.device,
                "best": self.best, "epochs": self.epochs, "error": self.error, "log": self.log if self.attempts else ""}

    def inherit(self, state, row):
        row = row or {}
        self.state, self.best, self.epochs = state, row.get("best"), row.get("epochs") or 0

    def folds(self, folder):
        """Folds whose files are this task's: its own, or every fold in the job's folder."""
        if self.fold is not None:
            return [self.fold]
        names = os.listdir(folder) if os.path.isdir(folder) else ()
        return sorted({int(m.group(1)) for m in (re.match(r"(?:curve_)?fold(\d+)(?:_status)?\.json$", n) for n in names) if m})

    def read_status(self, folder):
        """The status files that this attempt wrote, {fold: object}. An older one says nothing about this attempt."""
        out = {}
        for k in self.folds(folder):
            path = os.path.join(folder, status_name(k))
            status = read_json(path)
            if status and signature(path) != self.before.get(status_name(k)):
                out[k] = status
        return out

    def read_verdicts(self, folder, known):
        """What TrainBudget said last in this attempt about the folds that have no status: {fold: "timeout" or "prune"}. A
        script that stops on it and exits 0 without a status has not finished the fold."""
        out = {}
        for k in self.folds(folder):
            path = os.path.join(folder, curve_name(k))
            if k not in known and signature(path) != self.before.get(curve_name(k)):
                verdict = (read_json(path) or {}).get("verdict")
                if verdict in ("timeout", "prune"):
                    out[k] = verdict
        return out

    def read_results(self, folder):
        """best and epochs from the status file, else from the curve."""
        if self.fold is None:
            return
        status = read_json(os.path.join(folder, status_name(self.fold))) or {}
        curve = read_json(os.path.join(folder, curve_name(self.fold))) or {}
        points = [p for p in curve.get("points") or () if isinstance(p, dict) and isinstance(p.get("score"), (int, float))]
        scores = [p["score"] for p in points if math.isfinite(p["score"])]
        best = status.get("best")
        if not isinstance(best, (int, float)) and scores:
            best = max(scores) if curve.get("greater_is_better", True) else min(scores)
        self.best = best if isinstance(best, (int, float)) and math.isfinite(best) else self.best
        epochs = status.get("epochs_run", len(points))
        self.epochs = max(len(points), epochs if isinstance(epochs, int) else 0) or self.epochs


def error_signature(lines):
    """What two failures have in common: the last line that names an error, without numbers and paths."""
    named = [t for t in lines if re.match(r"\s*[\w.]*(Error|Exception|Interrupt|Killed|fault)\b", t)]
    last = (named or list(lines) or [""])[-1]
    return re.sub(r"0x[0-9a-f]+|\d+|/\S+", "#", last.strip())[:200]


def own_words(lines, launcher):
    """The last lines of a task's own output. Under a launcher they end with the first error that is named: the other
    ranks' broken connections, and what the launcher says of it all, are its consequences."""
    lines = list(lines)
    if launcher != "none":
        for n, line in enumerate(lines):
            if re.match(r"(\[\w+\]:)?[\w.]*(Error|Exception|Interrupt)\b", line):
                return lines[:n + 1]
    return lines
