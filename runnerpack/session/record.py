"""What the session tells of itself: the console, telemetry.jsonl, run.json and manifest.json."""

import json
import os
import sys
import threading
import time

from tools import HALF_WRITTEN, clean, cpu_count, sha256_file, signature, write_atomic


class Console:
    """Standard output, shared by threads, a whole line at a time."""

    def __init__(self):
        self.lock = threading.Lock()
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")

    def lines(self, lines):
        with self.lock:
            try:
                sys.stdout.write("".join(line + "\n" for line in lines))
                sys.stdout.flush()
            except (OSError, ValueError):
                pass  # nobody reads any more; the files are what counts


class Record:
    """What the session knows of itself. run.json is rewritten after every step and every task."""

    def __init__(self, config, working, clock, console):
        self.working, self.console, self.t0 = working, console, clock.t0
        self.telemetry = open(os.path.join(working, "telemetry.jsonl"), "a", encoding="utf-8")
        self.tasks, self.jobs = [], []
        self.manifest = Manifest(working)
        self.data = {
            "schema": 1, "build_id": config.get("build_id", ""), "name": config.get("name", ""),
            "kernel": config.get("kernel", ""),
            "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.t0)), "elapsed_s": 0.0,
            "budget_h": clock.cap / 3600, "accelerator": config.get("accelerator", "none"),
            "hardware": {"gpus": [], "tpu_chips": 0, "cpus": cpu_count(), "python": sys.version.split()[0]},
            "times": {}, "jobs": [], "tasks": [], "findings": [], "util": [], "outcome": "", "deadline_hit": False}

    def say(self, kind, **fields):
        """One telemetry line, on the console and in telemetry.jsonl."""
        line = json.dumps(clean(dict({"k": kind, "t": round(time.time() - self.t0, 2)}, **fields)))
        self.telemetry.write(line + "\n")
        self.telemetry.flush()
        self.console.lines(["::sandglass " + line])

    def note(self, text, level="info"):
        self.say("note", level=level, text=text)

    def finding(self, code, level, text):
        """Something the person should know after the session: in run.json and at once in the log."""
        if any(f["code"] == code and f["text"] == text for f in self.data["findings"]):
            return
        self.data["findings"].append({"code": code, "level": level, "text": text})
        self.note(text, level)

    def time(self, name, seconds):
        self.data["times"][name] = round(seconds, 2)

    def write(self):
        self.data["elapsed_s"] = round(time.time() - self.t0, 2)
        self.data["tasks"] = [t.row() for t in self.tasks]
        self.data["jobs"] = [j.row(self.tasks) for j in self.jobs]
        write_atomic(os.path.join(self.working, "run.json"), json.dumps(clean(self.data), indent=1) + "\n")


class Manifest:
    """manifest.json: path, size in bytes and SHA-256 of every output. A file is hashed once per change."""

    def __init__(self, working):
        self.working, self.known, self.lock, self.thread, self.again = working, {}, threading.Lock(), None, False

    def files(self):
        """Regular files under the working folder, relative and slash-separated. Links are followed to files only."""
        for folder, dirs, names in os.walk(self.working):
            dirs.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not HALF_WRITTEN.search(name):
                    yield os.path.relpath(path, self.working).replace(os.sep, "/"), path

    def write(self, leave_out=lambda name: False):
        with self.lock:
            rows = []
            for name, path in self.files():
                if name == "manifest.json" or leave_out(name):
                    continue
                mark = signature(path)
                if self.known.get(name, (None,))[0] != mark:
                    digest = sha256_file(path)
                    if digest is None or signature(path) != mark:
                        continue  # it is being written; the next manifest has it
                    self.known[name] = (mark, digest)
                rows.append({"path": name, "size": mark[1], "sha256": self.known[name][1]})
            write_atomic(os.path.join(self.working, "manifest.json"), json.dumps({"schema": 1, "files": rows}, indent=1) + "\n")

    def write_behind(self, leave_out):
        """The same in a thread, so that hashing a large file does not hold up the next task. Asked for while it
        works, it works once more."""
        def work():
            while self.again:
                self.again = False
                self.write(leave_out)

        self.again = True
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=work, daemon=True)
            self.thread.start()


class Phase:
    """Times a step and announces it."""

    def __init__(self, record, name, told=True, **fields):
        self.record, self.name, self.told, self.fields = record, name, told, fields

    def __enter__(self):
        self.began = time.time()
        if self.told:
            self.record.say("session", phase=self.name, **self.fields)

    def __exit__(self, *exc):
        self.record.time(self.name, time.time() - self.began)
