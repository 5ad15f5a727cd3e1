"""Running a command so that nothing of it survives: each is a group of its own."""

import collections
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

from tools import POSIX


def processes(mark, group):
    """{pid: CPU seconds} of the live processes of a group or with our mark in their environment (they may have left the
    group); None where the system has no /proc."""
    if not os.path.isdir("/proc/self"):
        return None
    out, tick = {}, os.sysconf("SC_CLK_TCK")
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as f:
                fields = f.read().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            if int(fields[2]) != group:
                with open("/proc/%s/environ" % name, "rb") as f:
                    if mark not in f.read().split(b"\0"):
                        continue
            out[int(name)] = (int(fields[11]) + int(fields[12])) / tick
        except (OSError, IndexError, ValueError):
            continue
    return out


class Process:
    """A running command: its group, its log, its last lines.

    exit is put on the session's queue as ("exit", process) when the command itself has ended.
    """

    def __init__(self, command, prefix, log, cwd, env, console, queue):
        self.mark = ("SANDGLASS_TASK=" + uuid.uuid4().hex).encode()
        self.tail, self.last_output, self.console, self.prefix = collections.deque(maxlen=120), time.time(), console, prefix
        self.kill_at, self.killed = None, False
        env = dict(env, SANDGLASS_TASK=self.mark.decode().split("=", 1)[1])
        self.log = open(log, "ab")
        options = {"start_new_session": True} if POSIX else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self.popen = subprocess.Popen(command, shell=isinstance(command, str), cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.started = time.time()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        threading.Thread(target=self.wait, args=(queue,), daemon=True).start()

    def wait(self, queue):
        self.popen.wait()
        queue.put(("exit", self))

    def read(self):
        """Copies the output to the log as it is, and line by line to the console."""
        rest, shown = b"", time.time()
        while True:
            try:
                data = os.read(self.popen.stdout.fileno(), 1 << 16)
            except OSError:
                data = b""
            if data:
                self.last_output = time.time()
                self.log.write(data)
                self.log.flush()
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            if b"\r" in rest and time.time() - shown > 10:  # a progress bar: a line every 10 s is enough
                lines.append(rest.rpartition(b"\r")[0])
                rest = rest.rpartition(b"\r")[2]
            if not data and rest:
                lines.append(rest)
            if lines:
                shown = time.time()
                text = [line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace") for line in lines]
                self.tail.extend(t for t in text if t.strip())
                self.console.lines([self.prefix + t for t in text])
            if not data:
                self.log.close()
                return

    def alive(self):
        """Whether anything of the command still runs."""
        found = processes(self.mark, self.popen.pid) if POSIX else None
        if found is not None:
            return bool(found)
        if not POSIX:
            return self.popen.poll() is None
        try:
            os.killpg(self.popen.pid, 0)
        except OSError:
            return False
        return True

    def send(self, number):
        if not POSIX:
            subprocess.call(["taskkill", "/T", "/F", "/PID", str(self.popen.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return
        try:
            os.killpg(self.popen.pid, number)
        except OSError:
            pass
        for pid in processes(self.mark, self.popen.pid) or ():
            try:
                os.kill(pid, number)
            except OSError:
                pass

    def stop(self, grace):
        """SIGTERM now; the session's loop sends SIGKILL after grace seconds."""
        if self.kill_at is None:
            self.kill_at = time.time() + grace
            self.send(signal.SIGTERM)

    def finish(self):
        """After the command's end: kills what it left behind, checks that it is gone, closes the log."""
        for _ in range(50):
            if not self.alive():
                break
            self.send(signal.SIGKILL if POSIX else signal.SIGTERM)
            self.killed = True
            time.sleep(0.02)
        self.reader.join(2)
        return not self.alive()


def python_shims(folder, env):
    """A folder in which `python` and `python3` are this interpreter; None when they already are.

    Scripts and not links: a link into a virtual environment would lose it.
    """
    names = ("python", "python3")
    mine = os.path.realpath(sys.executable)
    if all(os.path.realpath(shutil.which(n, path=env.get("PATH")) or "") == mine for n in names):
        return None
    os.makedirs(folder, exist_ok=True)
    for name in names:
        path = os.path.join(folder, name if POSIX else name + ".bat")
        with open(path, "w", encoding="utf-8", newline="\n" if POSIX else "\r\n") as f:
            if POSIX:
                f.write("#!/bin/sh\nexec '%s' \"$@\"\n" % sys.executable.replace("'", "'\\''"))
            else:
                f.write('@"%s" %%*\n' % sys.executable)
        os.chmod(path, 0o755)
    return folder
