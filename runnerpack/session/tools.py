"""Small things that every part of the session uses."""

import hashlib
import json
import math
import os
import re
import shutil

POSIX = os.name == "posix"
HALF_WRITTEN = re.compile(r"\.tmp\d+(\.\w+)?$")  # what a write that was cut off leaves (write_atomic, sandglass.atomic)
WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".h5", ".keras", ".onnx", ".joblib", ".cbm")
LINKED = ("artifacts", "subs", "reports")


class Stop(Exception):
    """Ends the session before anything trains. code and text become a finding."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


def setting(*names):
    """The first of these environment variables that is set and not empty, or None."""
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    return None


def number(text, default):
    """A finite float from text, or the default."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return default
    return value if math.isfinite(value) else default


def clean(value):
    """value with every float that JSON does not know (NaN, infinity) replaced by null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    return value


def write_atomic(path, text):
    """Writes a file so that a reader, and a kill at any moment, finds the old content or the new one."""
    tmp = "%s.tmp%d" % (path, os.getpid())
    with open(tmp, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(tmp, path)


def read_json(path):
    """The JSON object in a file, or None when it is missing, broken or not an object."""
    try:
        with open(path, encoding="utf-8") as f:
            value = json.load(f)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def signature(path):
    """Changes whenever the file's content may have: (mtime in ns, bytes, inode); None when there is no file."""
    try:
        s = os.stat(path)
    except OSError:
        return None
    return s.st_mtime_ns, s.st_size, s.st_ino


def sha256_file(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as f:
            for block in iter(lambda: f.read(1 << 20), b""):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()


def link(source, dest):
    """Makes dest point at source; copies only where this machine can make no link at all."""
    os.makedirs(os.path.dirname(dest), exist_ok=True)
    try:
        os.symlink(source, dest, target_is_directory=os.path.isdir(source))
        return
    except OSError:
        if os.path.lexists(dest):
            raise
    if os.path.isdir(source):
        try:  # Windows without the right to make symlinks
            import _winapi
            _winapi.CreateJunction(source, dest)
        except (ImportError, AttributeError, OSError):
            shutil.copytree(source, dest)
        return
    try:
        os.link(source, dest)
    except OSError:
        shutil.copy2(source, dest)


def inside(root, name):
    """root/name for a relative slash-separated name that does not leave root; Stop otherwise."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
        raise Stop("bad-path", "The path %r leaves the project's folder." % name)
    return os.path.join(root, *[p for p in parts if p not in ("", ".")])


def cpu_count():
    """Cores that this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1


def file_part(text):
    """text as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text) or "job"


def fold_of(name):
    """The fold that a file belongs to by its name (fold3_oof.npy, curve_fold3.json), or None."""
    found = re.search(r"fold_?(\d+)(?!\d)", name)
    return int(found.group(1)) if found else None


def status_name(fold):
    return "fold%d_status.json" % fold


def curve_name(fold):
    return "curve_fold%d.json" % fold


class Clock:
    """The session's limits, all derived from the cap so that 0.05 h and 12 h both do useful work.

    graceful  unix s; tasks know it as KG_DEADLINE and have saved by then
    hard      unix s; tasks that still run are terminated
    end       unix s; assembly and post commands are over. What is left of the cap is for the manifest, and for the
              start-up that Kaggle counts before this script began
    grace     s between SIGTERM and SIGKILL
    reserve   s that a task keeps free after its last epoch (KG_RESERVE_S)
    first     s within which a task of unknown speed is believed to save something for the first time

    From 2/3 h on the limits are those of kgkit: 8 % of the cap and at least 10 minutes before it.
    """

    def __init__(self, hours, t0):
        cap = self.cap = hours * 3600.0
        safety = min(max(600.0, 0.08 * cap), 0.25 * cap)
        self.t0 = t0
        self.graceful = t0 + cap - safety
        self.hard = t0 + cap - 0.4 * safety
        self.end = t0 + cap - min(120.0, 0.04 * cap)
        self.grace = min(60.0, 0.03 * cap)
        self.reserve = min(600.0, 0.1 * cap)
        self.first = min(600.0, cap / 12)
        self.early = min(600.0, max(60.0, 0.1 * cap))  # a failure before this is an early one
