"""Steps 5 and 6: pip, then one process a (job, fold), one worker a device, until the clock says stop."""

import itertools
import math
import os
import signal
import sys
import time
from queue import Empty, SimpleQueue

from tools import POSIX, Stop, curve_name, fold_of, number, read_json, setting, signature, status_name
from inputs import folders_present
from jobs import error_signature, launched, own_words
from processes import Process, processes, python_shims


THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
           "VECLIB_MAXIMUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS")


def install(config, record, found, session):
    """pip install, from the network or from wheel datasets. An entry that starts with "?" may fail."""
    packages = config.get("pip") or []
    options = []
    for ref in config.get("wheels") or ():
        folder = found.get(("dataset", ref))
        for place in [folder] + [os.path.join(folder, d) for d in folders_present(folder)] if folder else ():
            if any(n.endswith((".whl", ".tar.gz")) for n in os.listdir(place)):
                options += ["--find-links", place]
    if config.get("wheels"):
        options = ["--no-index"] + options
    groups = [[p for p in packages if not p.startswith("?")]] + [[p[1:]] for p in packages if p.startswith("?")]
    for group, optional in zip(groups, [False] + [True] * len(groups)):
        if not group:
            continue
        argv = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"] + options + group
        status, tail = session.command(argv, "pip", "pip.log", session.clock.graceful)
        if status != 0:
            text = "pip install %s failed: %s" % (" ".join(group), "\n".join(tail[-12:]) or "no output")
            record.finding("pip-failed", "warn" if optional else "bad", text)
            if not optional:
                raise Stop("pip-failed", text)


def points_every(elapsed, running):
    """Seconds between two looks at the curves: quick in the first minute, while somebody watches, then 6 lines a minute
    for two tasks and 8 for eight."""
    return max(1.0, elapsed / 3) if elapsed < 60 else max(20.0, 7.5 * running)


class Session:
    """Runs commands and tasks, and watches them, until the clock says stop."""

    def __init__(self, config, record, clock, console, scratch, working):
        self.config, self.record, self.clock, self.console = config, record, clock, console
        self.scratch, self.working = scratch, working
        self.artifacts = os.path.join(working, "artifacts")
        self.queue, self.running, self.stopping = SimpleQueue(), {}, ""
        self.sampler, self.env = None, dict(os.environ)
        self.wave, self.hold_until, self.given_up = [], 0.0, False
        self.next_flush, self.next_stall = 0.0, 0.0
        self.tasks_began = time.time()
        # s without output and scores after which a task is hung. When nobody chose it, a task that computes is left alone.
        self.stall = number(setting("SANDGLASS_STALL_S", "KG_STALL_S"), number(config.get("stall_s"), None))
        self.stall_chosen = self.stall is not None
        if not self.stall_chosen:
            self.stall = 1200.0 if clock.cap > 2400 else 0.0
        os.makedirs(os.path.join(working, "logs"), exist_ok=True)

    # -- environment

    def base_env(self, found):
        """What every command sees."""
        env = dict(os.environ)
        env["PYTHONPATH"] = os.pathsep.join(p for p in (self.scratch, env.get("PYTHONPATH")) if p)
        env.update(PYTHONUNBUFFERED="1", KGKIT_HOME=self.scratch, SANDGLASS_HOME=self.scratch,
                   KG_DEADLINE="%.3f" % self.clock.graceful, KG_RESERVE_S="%g" % self.clock.reserve)
        for name in ("CUDA_DEVICE_ORDER",):
            env.setdefault(name, "PCI_BUS_ID")  # device k here is device k of nvidia-smi
        prune, baseline = self.config.get("prune"), os.path.join(self.scratch, "_sandglass", "baseline")
        if prune and os.path.isdir(baseline):
            env.update(KG_PRUNE_BASELINE=baseline, KG_PRUNE_MARGIN="%r" % prune["margin"], KG_PRUNE_MIN_FRAC="%r" % prune.get("min_frac", 0.3))
            for fold, margin in (prune.get("fold_margins") or {}).items():  # the second rule: a fold's own seed noise
                env["KG_PRUNE_MARGIN_FOLD%s" % fold] = "%r" % margin
        elif prune:
            self.record.finding("no-baseline", "warn", "Pruning was asked for, but no baseline curves travelled: nothing is pruned.")
        shims = python_shims(os.path.join(self.scratch, "_sandglass", "bin"), env)
        if shims:
            env["PATH"] = shims + os.pathsep + env.get("PATH", "")
        self.env = env

    def workers(self, count):
        """Devices that tasks are spread over: [(label, environment changes)]."""
        hardware, wanted = self.record.data["hardware"], self.config.get("accelerator", "none").lower()
        if wanted.startswith("nvidia") and hardware["gpus"]:
            out = [("gpu%d" % k, {"CUDA_VISIBLE_DEVICES": str(k)}) for k in range(len(hardware["gpus"]))]
        elif wanted.startswith("tpu") and hardware["tpu_chips"]:
            import tpu
            out = [("tpu%d" % k, dict(tpu.one_chip(k), **self.compile_cache("tpu%d" % k))) for k in range(hardware["tpu_chips"])]
        else:
            n = int(number(setting("SANDGLASS_WORKERS"), min(4, hardware["cpus"])))
            out = [("cpu%d" % k, {}) for k in range(max(1, n))]
        return out[:max(1, count)]

    def compile_cache(self, name):
        """A folder of its own for what a process compiles: two that write to one break each other's files. JAX takes it by
        itself, torch_xla by sandglass.xla.compile_cache(os.environ["SANDGLASS_COMPILE_CACHE"])."""
        folder = os.path.join(self.scratch, "_sandglass", "compile", name)
        os.makedirs(folder, exist_ok=True)
        return {"SANDGLASS_COMPILE_CACHE": folder, "JAX_COMPILATION_CACHE_DIR": folder}

    def threads(self, env, workers):
        """Shares the cores out, unless the person has set a variable."""
        for name in THREADS:
            env.setdefault(name, str(max(1, self.record.data["hardware"]["cpus"] // workers)))
        return env

    def task_env(self, task, changes, workers):
        env = self.threads(dict(self.env), workers)
        for name, value in changes.items():
            env.pop(name, None)
            if value is not None:
                env[name] = value
        env["SANDGLASS_JOB"] = task.job.name
        if task.fold is not None:
            env.update(KG_DEFER_ASSEMBLE="1", SANDGLASS_FOLD=str(task.fold))
            if "KG_PRUNE_MARGIN_FOLD%d" % task.fold in env:  # for a TrainBudget that knows one margin only
                env["KG_PRUNE_MARGIN"] = env["KG_PRUNE_MARGIN_FOLD%d" % task.fold]
        return env

    # -- single commands: pip, assembly, post

    def command(self, command, name, log, limit, env=None):
        """Runs one command to its end, at most until limit (unix s). (exit status, last lines)."""
        process = Process(command, "[%s] " % name, os.path.join(self.working, "logs", log), self.scratch,
                          env or self.threads(dict(self.env), 1), self.console, self.queue)
        while True:
            event = self.next_event(min(limit, process.kill_at or limit))
            if event and event[0] == "exit" and event[1] is process:
                process.finish()
                return process.popen.returncode, list(process.tail)
            if process.kill_at and time.time() >= process.kill_at:
                process.send(signal.SIGKILL)
                limit = process.kill_at = time.time() + 5
            elif self.stopping or time.time() >= limit:
                process.stop(min(5.0, self.clock.grace))

    def next_event(self, until):
        """The next ("exit", process) or ("signal", number); None at `until` (unix s)."""
        try:
            event = self.queue.get(timeout=max(0.0, until - time.time()))
        except Empty:
            return None
        if event[0] == "signal":
            self.stopping = self.stopping or "signal %d" % event[1]
        return event

    # -- the pool

    def run(self, tasks):
        """Runs the jobs in their order; neighbours with {fold} share the workers."""
        for by_fold, group in itertools.groupby(self.record.jobs, key=lambda j: j.by_fold):
            jobs = list(group)
            stage = [t for t in tasks if t.job in jobs and t.state == "waiting"]
            wide = [t for t in stage if not by_fold or t.fold in t.job.wide]
            narrow = [t for t in stage if t not in wide]
            if narrow:
                workers = self.workers(len(narrow))
                narrow.sort(key=lambda t: t.fold)
                narrow.sort(key=lambda t: -self.predicted(t, narrow))
                self.pool(narrow, workers)
            for task in wide:
                self.pool([task], [("all", self.whole_machine())])

    def whole_machine(self):
        """Environment changes for a command that gets every device."""
        if not self.config.get("accelerator", "none").lower().startswith("tpu") or not self.record.data["hardware"]["tpu_chips"]:
            return {}
        import tpu
        return dict(tpu.whole_machine(), **self.compile_cache("all"))

    def predicted(self, task, stage):
        """Predicted seconds; a task that nobody predicted counts as the mean of the others."""
        known = self.config.get("durations") or {}
        values = [known[t.key()] for t in stage if t.key() in known]
        return known.get(task.key(), sum(values) / len(values) if values else 0.0)

    def pool(self, waiting, workers):
        free, total = list(workers), len(workers)
        self.wave, self.hold_until = [], 0.0
        wave_size = min(len(waiting), max(2, total))
        while waiting or self.running:
            while free and waiting and not self.closed_for_starts(waiting, wave_size):
                task = waiting.pop(0)
                if self.fits(task):
                    self.start(task, free.pop(0), total, wave_size)
            if not self.running:
                break
            self.watch()
            event = self.next_event(self.next_wake())
            if event and event[0] == "exit":
                task = self.running.get(event[1])
                if task:
                    self.ended(task, waiting, wave_size)
                    free.append(task.worker)
        for task in waiting:
            task.state = "not-started"
            self.tell(task)

    def closed_for_starts(self, waiting, wave_size):
        """True when nothing may start now: stopping, given up, or the first failure of a wave waits for the second."""
        if self.stopping or self.given_up or time.time() >= self.clock.graceful:
            if not self.running:
                for task in waiting:
                    self.refuse(task)
                del waiting[:]
            return True
        if len(self.wave) < wave_size or waiting[0] in self.wave or time.time() >= self.hold_until:
            return False
        return any(t.state == "running" and t.first_point is None for t in self.wave)

    def refuse(self, task):
        task.state = "not-started"
        if not self.stopping and not self.given_up:
            self.record.data["deadline_hit"] = True
            self.record.finding("deadline-reached", "warn", "Not enough time was left to start every task.")
        self.tell(task)

    def fits(self, task):
        """Whether the task can save something before the deadline; tells of it when not."""
        if time.time() + self.first_checkpoint(task) <= self.clock.graceful:
            return True
        self.refuse(task)
        return False

    def first_checkpoint(self, task):
        """Seconds until the task is believed to have saved something: as its siblings needed, else a share of the cap."""
        seen = [t for t in task.job.tasks(self.record.tasks) if t.attempts and t.fold is not None]
        points = [t.first_point for t in seen if t.first_point is not None]
        whole = [t.seconds for t in seen if t.state == "done" and t.first_point is None]
        if points or whole:
            return 1.15 * max(points + whole)
        known = (self.config.get("durations") or {}).get(task.key())
        return min(self.clock.first, known) if known else self.clock.first

    def start(self, task, worker, workers, wave_size):
        label, changes = worker
        folder = os.path.join(self.artifacts, task.job.name)
        task.before = {name: signature(os.path.join(folder, name)) for k in task.folds(folder) for name in (status_name(k), curve_name(k))}
        task.curves = {}
        task.attempts += 1
        task.state, task.device, task.worker, task.error, task.first_point, task.why = "running", label, worker, "", None, ""
        command = task.job.cmd if task.fold is None else task.job.cmd.replace("{fold}", str(task.fold))
        if task.launcher != "none":
            workers = max(1, len(self.record.data["hardware"]["gpus"]))  # they share the cores
            command = launched(command, task.launcher, workers)
        prefix = "[%s] " % task.label()
        try:
            task.process = Process(command, prefix, os.path.join(self.working, task.log), self.scratch,
                                   self.task_env(task, changes, workers), self.console, self.queue)
        except OSError as e:  # no memory, no process left: the task's failure, not the session's
            raise Stop("runner-error", "%s could not be started: %s" % (task.label(), e))
        task.alive_at = task.process.started
        self.running[task.process] = task
        if len(self.wave) < wave_size and task not in self.wave:
            self.wave.append(task)
        self.record.time("start_up", self.record.data["times"].get("start_up", task.process.started - self.clock.t0))
        if self.sampler:
            self.sampler.began(task)
        self.tell(task)
        self.save()

    def ended(self, task, waiting, wave_size):
        """A task's command has exited: clean up, judge, retry or go on."""
        process = task.process
        del self.running[process]
        task.seconds = time.time() - process.started
        if not process.finish():
            self.record.finding("survivor", "warn", "A process of %s could not be killed." % task.label())
        self.flush_curves(task)
        self.judge(task, process)
        if self.sampler:
            self.sampler.ended(task)
        self.tell(task)
        if task.state == "failed" and not self.stopping and task.attempts <= int(self.config.get("retry") or 0) and task.why != "early":
            self.record.note("%s failed and is tried once more." % task.label(), "warn")
            waiting.insert(0, task)
        elif task.state == "failed":
            self.judge_wave(waiting, wave_size)
        self.save()

    def judge(self, task, process):
        """The task's state from its exit status and the status files it wrote."""
        folder, code = os.path.join(self.artifacts, task.job.name), process.popen.returncode
        told = task.read_status(folder)
        words = [str(s.get("status")) for s in told.values()]
        task.read_results(folder)
        if code == 0 and not task.why:
            words += [{"timeout": "timeout", "prune": "pruned"}[v] for v in task.read_verdicts(folder, told).values()]
        bad = [w for w in words if w in ("timeout", "pruned", "failed")]
        if words and not bad and "done" in words and (code == 0 or task.fold is not None):
            task.state = "done"
        elif bad and "failed" not in bad:
            task.state = "timeout" if "timeout" in bad else "pruned"
        elif task.why:
            task.state = "failed" if task.why == "stalled" else "killed"
            task.error = {"stalled": "Stalled: no output%s for %.0f s." % (" and no new score" if self.stall_chosen else ", no new score and no CPU time", self.stall),
                          "deadline": "Stopped at the hard deadline."}.get(task.why, "Stopped: %s." % task.why)
        elif code == 0 and "failed" not in bad:
            task.state = "done"
        else:
            task.state = "failed"
            how = "signal %d" % -code if code < 0 else "exit status %d" % code
            task.error = "\n".join(own_words(process.tail, task.launcher)[-15:])[-2000:] or "No output, %s." % how
        task.signature = error_signature(own_words(process.tail, task.launcher))
        if task.state in ("timeout", "killed") and task.why in ("", "deadline"):
            self.record.data["deadline_hit"] = True

    def judge_wave(self, waiting, wave_size):
        """Gives the rest up when the first tasks all died early of the same error."""
        failed = [t for t in self.wave if t.state == "failed"]
        early = all(t.seconds < self.clock.early and t.first_point is None for t in failed)
        if len(failed) == wave_size > 1 and early and len({t.signature for t in failed}) == 1 and waiting:
            self.given_up = True
            self.record.finding("early-failure", "bad", "The first %d tasks died of the same error within minutes, so %d were not started: %s" % (
                len(failed), len(waiting), failed[0].error.splitlines()[-1] if failed[0].error else "no output"))
        elif failed and early:
            self.hold_until = time.time() + min(60.0, 0.05 * self.clock.cap)

    # -- watching

    def next_wake(self):
        """When the loop must look again although nothing ended, unix s."""
        times = [self.next_flush, self.clock.hard] + [p.kill_at for p in self.running if p.kill_at]
        if self.hold_until > time.time():
            times.append(self.hold_until)
        if self.stall:
            times.append(self.next_stall)
        if time.time() >= self.clock.hard:
            times.remove(self.clock.hard)
        return min(times)

    def watch(self):
        """Everything that depends on the time: telemetry, deadline, stalls, SIGKILL after the grace."""
        now = time.time()
        if now >= self.next_flush:
            for task in self.running.values():
                self.flush_curves(task)
            if self.sampler:
                self.sampler.flush()
            self.next_flush = now + points_every(now - self.tasks_began, len(self.running))
        if self.stall and now >= self.next_stall:
            self.next_stall = now + min(60.0, self.stall / 4)
            for task in list(self.running.values()):
                self.check_stall(task, now)
        for process, task in self.running.items():
            if process.kill_at and now >= process.kill_at:
                process.send(signal.SIGKILL)
                process.kill_at = now + 5
            elif self.stopping:
                self.stop(task, self.stopping, min(5.0, self.clock.grace))
            elif now >= self.clock.hard:
                self.stop(task, "deadline", self.clock.grace)

    def stop(self, task, why, grace):
        if not task.why:
            task.why = why
            self.record.note("%s is stopped (%s)." % (task.label(), why), "warn")
            task.process.stop(grace)

    def check_stall(self, task, now):
        """A task without output and scores for the limit is hung; without CPU time too if the limit is our own guess."""
        used = {} if self.stall_chosen else processes(task.process.mark, task.process.popen.pid) if POSIX else None
        cpu = sum(used.values()) if used else 0.0
        if used is None or cpu > task.cpu + 0.5 or cpu < task.cpu:  # no /proc: nothing can be said
            task.alive_at = now
        task.cpu = cpu
        task.alive_at = max(task.alive_at, task.process.last_output)
        if now - task.alive_at >= self.stall:
            self.stop(task, "stalled", self.clock.grace)

    def flush_curves(self, task):
        """Sends the points of the task's curves that are new since the last time."""
        folder = os.path.join(self.artifacts, task.job.name)
        for k in task.folds(folder):
            path = os.path.join(folder, curve_name(k))
            mark, (old, sent) = signature(path), task.curves.get(k, (None, {}))
            if mark is None or mark == old:
                continue
            curve = read_json(path)
            if curve is None:
                continue
            points = {}
            for p in curve.get("points") or ():
                if isinstance(p, dict) and isinstance(p.get("epoch"), int) and isinstance(p.get("score"), (int, float)) and math.isfinite(p["score"]):
                    points[p["epoch"]] = [p["epoch"], p["score"], p.get("seconds")]
            new = [points[e] for e in sorted(points) if sent.get(e) != points[e]]
            task.curves[k] = (mark, points)
            if not new or os.stat(path).st_mtime < task.process.started - 1:
                continue
            task.alive_at = time.time()
            if task.first_point is None:
                task.first_point = max(0.0, os.stat(path).st_mtime - task.process.started)
                self.hold_until = 0.0
            self.record.say("point", job=task.job.name, fold=k, epochs=curve.get("epochs"),
                            greater=bool(curve.get("greater_is_better", True)), pts=new)

    def tell(self, task):
        row = task.row()
        del row["log"]
        row["error"] = row["error"].splitlines()[-1][:300] if row["error"] else ""
        self.record.say("task", **row)

    def save(self):
        """run.json now, the manifest behind it without the files that are still being written."""
        self.record.write()

        def leave_out(name):
            # Asked while the next task may start: a task is "running" before its first file is there.
            busy = [t for t in self.record.tasks if t.state == "running"]
            logs, busy = [t.log for t in busy], [(t.job.name, t.fold) for t in busy]
            part = name.split("/")
            return (name in ("run.json", "telemetry.jsonl") or name in logs
                    or (part[0] == "artifacts" and len(part) > 2 and ((part[1], fold_of(part[2])) in busy or (part[1], None) in busy)))

        self.record.manifest.write_behind(leave_out)
