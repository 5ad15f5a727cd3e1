"""The runner of a training session on Kaggle, built by Sandglass.

The script that Kaggle runs carries this file in its payload, writes it into the scratch folder and calls main() with
its settings. Python 3.8 or later, standard library only.
"""

# How to read this file
#
# It is one session on Kaggle from top to bottom: the steps in the order in which they happen (preflight, unpack,
# inputs, resume, install, tasks, assemble, close), then main().
#
# Where things are:
#   working folder   /kaggle/working: what Kaggle keeps. artifacts/, subs/, reports/, logs/, run.json, manifest.json
#   input folder     /kaggle/input: what Kaggle mounted, read-only
#   scratch folder   where the project is unpacked and the commands run; artifacts/, subs/ and reports/ in it are
#                    links into the working folder, so results are saved the moment they are written
#
# Lines that start with "::sandglass" are for the app that watches this log; the same lines are in telemetry.jsonl.

import collections
import filecmp
import hashlib
import itertools
import json
import lzma
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
import uuid
import zipfile
from queue import Empty, SimpleQueue

T0 = globals().get("T0") or time.time()  # the session's clock: when the script started, unix seconds

POSIX = os.name == "posix"
MAX_FILES = 480            # Kaggle keeps about 500 output files
HALF_WRITTEN = re.compile(r"\.tmp\d+(\.\w+)?$")  # what a write that was cut off leaves (write_atomic, sandglass.atomic)
WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".h5", ".keras", ".onnx", ".joblib", ".cbm")
LINKED = ("artifacts", "subs", "reports")
TABLES = "_sandglass/tables.json"
# Accelerators with a known number of devices: how many, and what the device's name contains.
PLANNED = {"NvidiaTeslaT4": (2, "T4"), "NvidiaTeslaP100": (1, "P100"), "NvidiaL4": (4, "L4"), "NvidiaL4X1": (1, "L4"),
           "NvidiaTeslaA100": (1, "A100"), "NvidiaH100": (1, "H100"), "NvidiaRtxPro6000": (1, "RTX")}
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
           "VECLIB_MAXIMUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS")


class Stop(Exception):
    """Ends the session before anything trains. code and text become a finding."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


# ---------------------------------------------------------------------------------------------------------------
# Small tools
# ---------------------------------------------------------------------------------------------------------------

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


# ---------------------------------------------------------------------------------------------------------------
# The clock: what may happen until when
# ---------------------------------------------------------------------------------------------------------------

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

    def __init__(self, hours, t0=T0):
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


# ---------------------------------------------------------------------------------------------------------------
# The record: console, telemetry, run.json, manifest.json
# ---------------------------------------------------------------------------------------------------------------

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
        self.working, self.console = working, console
        self.telemetry = open(os.path.join(working, "telemetry.jsonl"), "a", encoding="utf-8")
        self.tasks, self.jobs = [], []
        self.manifest = Manifest(working)
        self.data = {
            "schema": 1, "build_id": config.get("build_id", ""), "name": config.get("name", ""),
            "kernel": config.get("kernel", ""),
            "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(T0)), "elapsed_s": 0.0,
            "budget_h": clock.cap / 3600, "accelerator": config.get("accelerator", "none"),
            "hardware": {"gpus": [], "tpu_chips": 0, "cpus": cpu_count(), "python": sys.version.split()[0]},
            "times": {}, "jobs": [], "tasks": [], "findings": [], "util": [], "outcome": "", "deadline_hit": False}

    def say(self, kind, **fields):
        """One telemetry line, on the console and in telemetry.jsonl."""
        line = json.dumps(clean(dict({"k": kind, "t": round(time.time() - T0, 2)}, **fields)))
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
        self.data["elapsed_s"] = round(time.time() - T0, 2)
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


def sha256_file(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as f:
            for block in iter(lambda: f.read(1 << 20), b""):
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------------------------
# Step 1. Preflight: is this the machine that was asked for?
# ---------------------------------------------------------------------------------------------------------------

def run_quietly(argv, limit):
    """(exit status, stdout) of a short command; (None, "") when it cannot be run or takes over limit seconds.

    In a group of its own and killed as a group: what it started would keep the pipe open for ever.
    """
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 **({"start_new_session": True} if POSIX else {}))
    except OSError:
        return None, ""
    try:
        return_text = child.communicate(timeout=limit)[0]
    except (OSError, subprocess.SubprocessError):
        try:
            os.killpg(child.pid, signal.SIGKILL) if POSIX else child.kill()
            child.communicate(timeout=2)
        except (OSError, subprocess.SubprocessError):
            pass  # a driver that hangs in the kernel takes no signal; the session goes on without it
        return None, ""
    return child.returncode, return_text.decode("utf-8", "replace")


def find_gpus(accelerator):
    """[{"name", "mem_mb"}] of the cards that nvidia-smi lists; made-up ones in a rehearsal."""
    fake = setting("SANDGLASS_FAKE_GPUS", "KG_FAKE_GPUS")
    if fake is not None:
        name = PLANNED.get(accelerator, (0, "T4"))[1]
        return [{"name": "Tesla T4" if name == "T4" else name, "mem_mb": 15360.0}] * int(number(fake, 0))
    status, text = run_quietly(["nvidia-smi", "--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"], 20)
    gpus = []
    for line in text.splitlines() if status == 0 else ():
        cells = [c.strip() for c in line.split(",")]
        if len(cells) == 3 and cells[0].isdigit():
            gpus.append({"name": cells[1], "mem_mb": number(cells[2], 0.0)})
    return gpus


def find_tpu_chips():
    """How many TPU chips there are, counted without opening one (an opened chip belongs to its process)."""
    fake = setting("SANDGLASS_FAKE_TPU_CHIPS")
    if fake is not None:
        return int(number(fake, 0))
    try:
        chips = [n for n in os.listdir("/dev/vfio") if n.isdigit()]
    except OSError:
        chips = []
    try:
        return len(chips) or len([n for n in os.listdir("/dev") if re.match(r"accel\d+$", n)])
    except OSError:
        return 0


def wrong_device(accelerator, hardware):
    """(code, sentence) when the machine is not the one asked for, else None."""
    gpus, chips = hardware["gpus"], hardware["tpu_chips"]
    seen = "%d x %s" % (len(gpus), gpus[0]["name"]) if gpus else "%d TPU chips" % chips if chips else "no accelerator"
    if accelerator.lower().startswith("tpu"):
        if chips < 8:
            return "wrong-device" if chips or gpus else "no-device", "planned 8 TPU chips (%s), found %s" % (accelerator, seen)
    elif accelerator.lower().startswith("nvidia"):
        count, name = PLANNED.get(accelerator, (1, ""))
        right = [g for g in gpus if name.lower() in g["name"].lower()]
        if len(right) < count:
            return "wrong-device" if chips or gpus else "no-device", "planned %d x %s (%s), found %s" % (count, name or "GPU", accelerator, seen)
    return None


def wrong_image(accelerator):
    """A sentence when this is a TPU run and the image has no TPU software, else None. Looks, and imports nothing: a
    process that has initialised the TPU would hold its chips."""
    if not accelerator.lower().startswith("tpu"):
        return None
    fake = setting("SANDGLASS_FAKE_TPU_IMAGE")
    if fake is None and setting("SANDGLASS_FAKE_TPU_CHIPS") is not None:
        return None  # a rehearsal needs no TPU software
    import importlib.util
    there = fake != "0" if fake is not None else setting("ISTPUVM") or any(importlib.util.find_spec(m) for m in ("torch_xla", "jax", "libtpu"))
    return None if there else "this is not the TPU image: neither torch_xla nor jax can be imported, and ISTPUVM is not set"


TORCH_CHECK = r'''
import json, torch
bad = []
archs = torch.cuda.get_arch_list()
for i in range(torch.cuda.device_count()):
    try:
        major, minor = torch.cuda.get_device_capability(i)
    except Exception as e:
        bad.append("PyTorch %s cannot open GPU %d: %s" % (torch.__version__, i, str(e).splitlines()[0] if str(e) else type(e).__name__))
        continue
    fits = [a for a in archs if (a.startswith("sm_%d" % major) and int(a[4:].rstrip("af") or 0) <= minor)
            or (a.startswith("compute_") and int(a[8:].rstrip("af")) <= 10 * major + minor)]
    if archs and not fits:
        bad.append("PyTorch %s has no code for GPU %d (sm_%d%d), only for %s" % (torch.__version__, i, major, minor, " ".join(archs)))
        continue
    try:
        x = torch.ones(64, 64, device="cuda:%d" % i)
        assert float((x @ x)[0, 0]) == 64.0
    except Exception as e:
        bad.append("GPU %d cannot multiply two matrices: %s" % (i, str(e).splitlines()[0] if str(e) else type(e).__name__))
if not torch.cuda.device_count():
    bad.append("PyTorch %s sees no GPU" % torch.__version__)
print("SANDGLASS_TORCH " + json.dumps(bad))
'''


def check_torch(record):
    """A sentence when the image's PyTorch cannot use the cards. In a child, so that this process opens no card."""
    import importlib.util
    if importlib.util.find_spec("torch") is None:
        return None
    status, text = run_quietly([sys.executable, "-c", TORCH_CHECK], number(setting("SANDGLASS_TORCH_CHECK_S"), 35.0))
    found = re.search(r"SANDGLASS_TORCH (\[.*\])", text)
    if not found:
        how = "did not answer in time" if status is None else "ended with exit status %d" % status
        record.finding("torch-unchecked", "warn", "The check whether PyTorch can use the cards %s; the tasks are started all the same." % how)
        return None
    return "; ".join(json.loads(found.group(1))) or None


def preflight(config, record):
    """Fills in the hardware and stops within a minute when it is not what was asked for."""
    accelerator = config.get("accelerator", "none")
    hardware = record.data["hardware"]
    hardware["gpus"], hardware["tpu_chips"] = find_gpus(accelerator), find_tpu_chips()
    problem = wrong_device(accelerator, hardware)
    if problem is None:
        text = wrong_image(accelerator)
        problem = ("wrong-device", text) if text else None
    if problem is None and accelerator.lower().startswith("nvidia") and setting("SANDGLASS_FAKE_GPUS", "KG_FAKE_GPUS") is None:
        text = check_torch(record)
        problem = ("wrong-device", text) if text else None
    if problem is None:
        return
    code, text = problem
    if config.get("allow_any_device"):
        record.finding(code, "warn", "Going on with another machine: %s." % text)
        return
    raise Stop(code, "SANDGLASS_WRONG_DEVICE: %s. Nothing was trained." % text)


# ---------------------------------------------------------------------------------------------------------------
# Step 2. Unpack: the project's files, and the frozen split cell for cell
# ---------------------------------------------------------------------------------------------------------------

def unpack(config, files, tables, scratch):
    """Writes the payload into scratch and rebuilds the packed tables; Stop when one differs from its original.

    files is the open tar, tables the bytes of the packed tables one after another: _sandglass/tables.json in the tar
    says where each begins and how long it is.
    """
    members = {m.name: m for m in files.getmembers() if m.isfile()}
    places = json.loads(files.extractfile(members.pop(TABLES)).read().decode()) if TABLES in members else {}
    for name, member in members.items():
        path = inside(scratch, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(files.extractfile(member).read())
        if member.mode & 0o100:
            os.chmod(path, 0o755)
    for split in config.get("splits") or ():
        if split["form"] == "mounted":
            continue  # it comes with the inputs: see mounted_split
        try:
            content = unpack_split(split, lambda name: tables[places[name][0]:sum(places[name])])
        except (KeyError, ValueError, IndexError, lzma.LZMAError) as e:
            raise Stop("splits-differ", "%s cannot be rebuilt (%s: %s). Nothing was trained." % (split.get("path"), type(e).__name__, e))
        if hashlib.sha256(content).hexdigest() != split["sha256"]:
            raise Stop("splits-differ", "%s was rebuilt, but not to the same bytes. Nothing was trained." % split["path"])
        path = inside(scratch, split["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)


def mounted_split(split, mount, scratch):
    """Links a table that a dataset holds, and Stop unless it is the table that the build saw, byte for byte."""
    parts = split["path"].split("/")
    folders = [mount] + [os.path.join(mount, d) for d in folders_present(mount)] if mount else []
    places = [p for p in (os.path.join(f, parts[-1]) for f in folders) if os.path.isfile(p)]
    for place in places:
        if os.path.getsize(place) == split["bytes"] and sha256_file(place) == split["sha256"]:
            dest = inside(scratch, split["path"])
            if os.path.lexists(dest):
                os.unlink(dest)
            link(place, dest)
            return
    what = "is not mounted" if not mount else "has a %s, but not the one that this session was built with" % parts[-1] if places else "has no %s" % parts[-1]
    raise Stop("splits-differ", "%s was to come from the dataset %s, which %s. Nothing was trained: upload the file of the build to that "
               "dataset, or build again with the one that is there." % (split["path"], split["from"], what))


def unpack_split(split, member):
    """The original bytes of a packed table. member(name) gives a payload file's bytes."""

    def blob(description):
        data = member(description["blob"])
        return lzma.decompress(data) if description["xz"] else data

    if split["form"] == "raw":
        return blob(split)
    if split["form"] != "table":
        raise ValueError("unknown form %r" % split["form"])
    rows, eol = split["rows"], split["eol"]
    columns = [unpack_column(c, rows, blob) for c in split["columns"]]
    header = split["sep"].join(c["name"] for c in split["columns"])
    lines = itertools.chain([header], map(split["sep"].join, zip(*columns)))
    text = eol.join(lines) + (eol if split["final_eol"] else "")
    return (b"\xef\xbb\xbf" if split["bom"] else b"") + text.encode("utf-8")


def unpack_column(c, rows, blob):
    """The cells of one column, as text."""
    kind = c["kind"]
    if kind == "const":
        return [c["value"]] * rows
    if kind == "range":
        return numbers(c, range(c["start"], c["start"] + c["step"] * rows, c["step"]) if c["step"] else [c["start"]] * rows)
    data = blob(c)
    if kind == "ints":
        return numbers(c, itertools.accumulate((v >> 1) ^ -(v & 1) for v in itertools.islice(varints(data), rows)))
    if kind == "radix":
        return unpack_radix(data, c["labels"], rows, c["digits"], c["bytes"])
    if kind == "bytes":
        return [c["labels"][d] for d in data[:rows]]
    if kind == "runs":
        pairs = iter(varints(data))
        return [label for v in pairs for label in itertools.repeat(c["labels"][v], next(pairs))]
    if kind == "chars":
        return unpack_chars(c, data, rows)
    if kind == "front":
        return unpack_front(data, rows)
    if kind in ("text", "repeat"):
        cells = data.decode("utf-8").split("\n")[:-1]
        return cells if kind == "text" else list(itertools.islice(itertools.cycle(cells), rows))
    raise ValueError("unknown kind %r" % kind)


def numbers(c, values):
    return [c["prefix"] + str(v).zfill(c["width"]) + c["suffix"] for v in values]


def varints(data):
    """Unsigned LEB128 numbers."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def unpack_radix(data, labels, count, digits, width):
    """count labels from groups of `digits` base-k digits in `width` bytes, several digits at a time by a table."""
    k, step = len(labels), 1
    while step < digits and k ** (step + 1) <= 4096:
        step += 1
    table = [t[::-1] for t in itertools.product(labels, repeat=step)]
    out = []
    for at in range(0, len(data), width):
        value, group = int.from_bytes(data[at:at + width], "little"), []
        for _ in range(-(-digits // step)):
            value, rest = divmod(value, len(table))
            group.extend(table[rest])
        out.extend(group[:digits])
    if len(out) < count:
        raise ValueError("%d cells, %d expected" % (len(out), count))
    return out[:count]


def unpack_chars(c, data, rows):
    slots, cell, cells = c["slots"], list(c["mask"]), []
    chars = unpack_radix(data, c["alphabet"], rows * len(slots), c["digits"], c["bytes"])
    for at in range(0, rows * len(slots), len(slots)):
        for slot, char in zip(slots, chars[at:at + len(slots)]):
            cell[slot] = char
        cells.append("".join(cell))
    return cells


def unpack_front(data, rows):
    cells, last = [], b""
    for shared, rest in zip(data[:rows], data[rows:].split(b"\n")):
        last = last[:shared] + rest
        cells.append(last.decode("utf-8"))
    return cells


# ---------------------------------------------------------------------------------------------------------------
# Step 3. Inputs: find what Kaggle mounted, in the old and in the new layout, and link it into data/
# ---------------------------------------------------------------------------------------------------------------

ROOTS = {"dataset": ("datasets",), "competition": ("competitions",), "kernel": ("notebooks", "kernels"), "model": ("models",)}
LAYOUT_NAMES = {name for names in ROOTS.values() for name in names}


def child(folder, name):
    """The child folder of that name, upper and lower case alike, or None. An exact match wins."""
    exact = os.path.join(folder, name)
    if os.path.isdir(exact):
        return exact
    try:
        names = [n for n in os.listdir(folder) if n.lower() == name.lower() and os.path.isdir(os.path.join(folder, n))]
    except OSError:
        return None
    return os.path.join(folder, sorted(names)[0]) if names else None


def descend(folder, names):
    for name in names:
        folder = folder and child(folder, name)
    return folder


def find_input(root, kind, ref):
    """The mount of one input under the input folder, or None. At most a handful of folder listings.

    New layout: <root>/datasets/<owner>/<slug>, <root>/notebooks/<owner>/<slug>, <root>/competitions/<slug>,
    <root>/models/<owner>/<model>/<framework>/<variation>/<version>. Old layout: the same without kind and owner.
    The mount itself is the answer: a folder of the same name inside it is the user's own.
    """
    parts = [p for p in ref.split("/") if p]
    for name in ROOTS.get(kind, ()):
        found = descend(root, [name] + parts)
        if found:
            return found
    plain = parts if kind == "competition" else parts[1:]
    if not plain or plain[0].lower() in LAYOUT_NAMES:
        return None
    found = descend(root, plain)
    if found and not of_another_owner(root, kind, parts, found):
        return found
    return None


def of_another_owner(root, kind, parts, found):
    """True when the owner-less folder is only another name for somebody else's mount."""
    if kind == "competition":
        return False
    for top in (os.path.join(root, name) for names in ROOTS.values() for name in names):
        try:
            owners = os.listdir(top)
        except OSError:
            continue
        for owner in owners:
            other = descend(top, [owner] + parts[1:])
            if other and owner.lower() != parts[0].lower() and os.path.samefile(other, found):
                return True
    return False


def folders_present(root, depth=2, limit=200):
    """Every folder under root down to depth, "a", "a/b" and so on, at most limit of them."""
    out, level = [], [""]
    for _ in range(depth):
        below = []
        for base in level:
            try:
                with os.scandir(os.path.join(root, base)) as entries:
                    names = sorted(e.name for e in itertools.islice(entries, 5000) if e.is_dir())
            except OSError:
                continue
            below += [base + "/" + n if base else n for n in names]
        out += below
        level = below[:limit]
    return sorted(out)[:limit]


def find_inputs(root, wanted):
    """{(kind, ref): folder or None}. Waits for a slow mount while the folders under root still change, 10 s at most."""
    began = changed = time.monotonic()
    seen = None
    while True:
        found = {(kind, ref): find_input(root, kind, ref) for kind, ref in wanted}
        now = time.monotonic()
        if None not in found.values() or now - began > 10:
            return found
        present = folders_present(root)
        if seen is not None and present != seen:
            changed = now
        if now - changed > 1:
            return found
        seen = present
        time.sleep(0.2)


def not_mounted(root, kind, ref):
    present = folders_present(root)
    return ("The %s %s is not mounted under %s. Folders that are: %s. The list is stable, so waiting longer will not help: "
            "check the owner and the name, and that this account may see it."
            % (kind, ref, root, ", ".join(present) if present else "none at all"))


class Linker:
    """Links inputs into the project and tells of clashes."""

    def __init__(self, scratch, record, layout):
        self.scratch, self.record, self.layout, self.origin = scratch, record, layout, {}

    def target(self, item):
        """The folder for an input, slash-separated under the project; None: attached only."""
        if item.get("target"):
            return item["target"]
        slug = item["ref"].split("/")[-1]
        if item["kind"] == "model":
            return None
        if self.layout == "nested" and item["kind"] != "competition":
            return "data/ext/" + ("kout-" if item["kind"] == "kernel" else "") + slug
        return "data"

    def add(self, item, source):
        target = self.target(item)
        if target is None:
            return
        dest, label = inside(self.scratch, target), "%s %s" % (item["kind"], item["ref"])
        if dest != os.path.join(self.scratch, "data") and not os.path.lexists(dest):
            link(source, dest)
            self.origin[dest] = (label, source)
            return
        if os.path.islink(dest):  # a second input for the same folder: make room beside the first
            first, where = self.origin[dest]
            os.unlink(dest)
            os.makedirs(dest)
            self.children(first, where, dest)
        self.children(label, source, dest)

    def children(self, label, source, dest):
        os.makedirs(dest, exist_ok=True)
        for name in sorted(os.listdir(source)):
            there, mine = os.path.join(dest, name), os.path.join(source, name)
            if not os.path.lexists(there):
                link(mine, there)
                self.origin[there] = (label, mine)
            elif not same_file(there, mine):
                owner = self.origin.get(there, ("the project's own file",))[0]
                self.record.finding("input-clash", "warn", "%s/%s is there from %s; the one of %s was left out." % (
                    os.path.relpath(dest, self.scratch).replace(os.sep, "/"), name, owner, label))


def same_file(a, b):
    """True for the same small file; large ones and folders are the same only if they are one."""
    if os.path.isfile(a) and os.path.isfile(b) and os.path.getsize(a) == os.path.getsize(b) <= 64 << 20:
        return filecmp.cmp(a, b, shallow=False)
    return os.path.exists(a) and os.path.samefile(a, b)


def bring_inputs(config, record, root, scratch):
    """Links every input; returns {kernel or dataset ref: folder} for the steps that follow."""
    items = [i for i in config.get("inputs") or () if i.get("kind") in ROOTS]
    extra = [("kernel", r) for r in config.get("resume") or ()] + [("dataset", w) for w in config.get("wheels") or ()]
    mounted = [s for s in config.get("splits") or () if s["form"] == "mounted"]
    found = find_inputs(root, dict.fromkeys([(i["kind"], i["ref"]) for i in items] + extra + [("dataset", s["from"]) for s in mounted]))
    for split in mounted:
        mounted_split(split, found["dataset", split["from"]], scratch)
    missing = [not_mounted(root, i["kind"], i["ref"]) for i in items if found[i["kind"], i["ref"]] is None and ("kernel", i["ref"]) not in extra]
    missing += [not_mounted(root, "dataset", ref) for kind, ref in extra if kind == "dataset" and found[kind, ref] is None]
    for text in missing:
        record.finding("missing-input", "warn" if config.get("allow_missing_inputs") else "bad", text)
    if missing and not config.get("allow_missing_inputs"):
        raise Stop("missing-input", missing[0])
    linker, taken = Linker(scratch, record, config.get("layout") or "flat"), {}
    for item in items:
        key = item["kind"], item["ref"]
        if found[key] is None or key in extra:
            continue
        if found[key] in taken:
            record.finding("input-clash", "warn", "%s %s and %s are one and the same folder %s." % (key[0], key[1], taken[found[key]], found[key]))
            continue
        taken[found[key]] = "%s %s" % key
        linker.add(item, found[key])
    return {key: folder for key, folder in found.items() if folder}


# ---------------------------------------------------------------------------------------------------------------
# Step 4. Resume: what earlier sessions finished is linked, what they began is continued
# ---------------------------------------------------------------------------------------------------------------

class Job:
    """One command of the session and how its folds are joined."""

    def __init__(self, spec):
        self.name, self.cmd = spec["name"], spec["cmd"]
        self.by_fold = "{fold}" in self.cmd
        self.folds = [int(k) for k in spec.get("folds") or ()] if self.by_fold else []
        # A config without the key leaves it to us; null means that this run has nothing to join (a part of the folds).
        self.assemble = spec["assemble"] if "assemble" in spec else derive_assemble(self.cmd)
        self.assembled, self.score = None, {}
        self.launcher = spec.get("launcher") or "none"
        if self.launcher not in LAUNCHERS or self.by_fold and self.launcher != "none":
            raise Stop("bad-launcher", "The launcher of %s is %r; it is torchrun, accelerate or none, and a command with {fold} has none." % (
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


LAUNCHERS = ("none", "torchrun", "accelerate")
PYTHON_COMMAND = re.compile(r"(?P<env>(?:\w+=\S*\s+)*)(?:\S*/)?python[\d.]*\s+(?P<options>(?:-[uBEsS]+\s+)*)(?!-[^m])(?P<rest>\S.*)", re.S)


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


class Earlier:
    """Results of earlier kernels, by job and fold."""

    # A fold that is finished in any of them is finished; of two that are not, the later one knows more.
    RANK = {"done": 3, "pruned": 2, "timeout": 1, "begun": 1}

    def __init__(self, sources, work):
        self.sources, self.work = sources, work

    def open(self, job):
        """[(artifacts/<job> folder, run.json rows of the job)], archives unpacked beside the scratch folder."""
        out = []
        for n, source in enumerate(self.sources):
            folder = os.path.join(source, "artifacts", job.name)
            run = read_json(os.path.join(source, "run.json")) or {}
            rows = {t.get("fold"): t for t in run.get("tasks") or () if isinstance(t, dict) and t.get("job") == job.name}
            if not os.path.isdir(folder):
                if rows:
                    out.append((None, rows))
                continue
            archives = [f for f in sorted(os.listdir(folder)) if re.match(r"fold(\d+|s)\.zip$", f)]
            if archives:
                opened = os.path.join(self.work, "resume", str(n), job.name)
                os.makedirs(opened, exist_ok=True)
                for name in archives:
                    with zipfile.ZipFile(os.path.join(folder, name)) as z:
                        z.extractall(opened)
                for name in os.listdir(folder):
                    if name not in archives and not os.path.lexists(os.path.join(opened, name)):
                        link(os.path.join(folder, name), os.path.join(opened, name))
                folder = opened
            out.append((folder, rows))
        return out

    @staticmethod
    def state(folder, rows, fold):
        """done, timeout (to be continued), pruned, begun (has a checkpoint, say after a hard kill), failed or ""."""
        status = read_json(os.path.join(folder, "fold%d_status.json" % fold)) if folder else None
        if status and status.get("status"):
            return status["status"] if status["status"] in Earlier.RANK else "failed"
        row = rows.get(fold) or {}
        state = "done" if row.get("state") == "skipped" else row.get("state", "")
        if state in ("done", "pruned"):
            return state
        # Predictions without a status are a script's that writes none. But of a task that was cut off while it ran they
        # may be half a file.
        if state != "running" and folder and os.path.exists(os.path.join(folder, "fold%d_oof.npy" % fold)):
            return "done"
        names = [n for n in os.listdir(folder) if not HALF_WRITTEN.search(n)] if folder else ()
        if state != "failed" and any(re.match(r"fold_?%d_resume" % fold, n) for n in names):
            return "begun"
        return "failed" if state else ""


def resume(config, record, found, tasks, artifacts, work):
    """Takes over what the resumed kernels left, and marks the tasks that need not run again."""
    sources = []
    for ref in config.get("resume") or ():
        source = found.get(("kernel", ref))
        if source is None or not os.path.isdir(os.path.join(source, "artifacts")):
            record.finding("resume-missing", "warn", "The kernel to resume from, %s, brought no artifacts: its folds are trained again." % ref)
        else:
            sources.append(source)
    earlier = Earlier(sources, work)
    for job in record.jobs if sources else ():
        opened = earlier.open(job)
        for task in job.tasks(tasks):
            take_over(earlier, opened, task, os.path.join(artifacts, job.name))
        for folder, _ in reversed(opened):
            for name in sorted(os.listdir(folder)) if folder and job.by_fold else ():
                if fold_of(name) is None and not HALF_WRITTEN.search(name) and os.path.exists(os.path.join(folder, name)):  # of the job, not of a fold; assembly may write it anew
                    bring(os.path.join(folder, name), os.path.join(artifacts, job.name, name), name.endswith(WEIGHTS))


def take_over(earlier, opened, task, dest):
    if task.fold is None:
        done = [o for o in opened if (o[1].get(None) or {}).get("state") in ("done", "skipped")]
        begun = [o for o in opened if (o[1].get(None) or {}).get("state") != "failed"]
        for folder, _ in reversed(done or begun):  # a whole-machine command may write over anything: copies, unless it is done
            for name in sorted(os.listdir(folder)) if folder else ():
                if not HALF_WRITTEN.search(name) and os.path.exists(os.path.join(folder, name)):
                    bring(os.path.join(folder, name), os.path.join(dest, name), bool(done))
        if done:
            task.inherit("skipped", done[-1][1].get(None))
        return
    ranks = [Earlier.RANK.get(Earlier.state(f, r, task.fold), 0) for f, r in opened]
    best = max(ranks, default=0)
    if not best:
        return  # unknown or failed: from scratch
    finished = best > Earlier.RANK["begun"]
    told = {}
    for rank, (folder, rows) in reversed(list(zip(ranks, opened))):
        if rank != best:
            continue
        row, names = rows.get(task.fold) or {}, fold_files(folder, task.fold)
        told = told or row
        for name in names:
            if not (finished and re.match(r"fold_?\d+_resume", name)):
                # A fold that goes on writes to its files, and a mounted one is read-only: those are copied.
                bring(os.path.join(folder, name), os.path.join(dest, name), finished)
        # A session that only took the fold over has not its weights, and has nothing of it if it was killed: look further.
        if names and row.get("state") != "skipped":
            break
    if finished:
        task.inherit("skipped" if best == Earlier.RANK["done"] else "pruned", told)
    else:
        task.continued = True


def fold_files(folder, fold):
    """Names of a fold's files in a folder, without half-written ones and links that lead nowhere."""
    return [n for n in (sorted(os.listdir(folder)) if folder else ()) if fold_of(n) == fold and not HALF_WRITTEN.search(n)
            and os.path.exists(os.path.join(folder, n))]


def bring(source, dest, as_link):
    if os.path.lexists(dest):
        return
    source = os.path.realpath(source)
    if as_link:
        link(source, dest)
    elif os.path.isdir(source):
        shutil.copytree(source, dest)
    else:
        os.makedirs(os.path.dirname(dest), exist_ok=True)
        shutil.copyfile(source, dest)


def settle_links(record, artifacts, tasks):
    """Before the end: results of earlier sessions become files of this output, their weights are left where they are."""
    left = 0
    for folder, dirs, names in os.walk(artifacts):
        for name in sorted(dirs + names):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                continue
            source = os.path.realpath(path)
            os.unlink(path)
            if name.endswith(WEIGHTS) or os.path.isdir(source) or not os.path.exists(source):
                left += 1
            else:
                shutil.copyfile(source, path)
    if left:
        record.note("%d weight files of earlier sessions stay in the kernels they came from." % left)


# ---------------------------------------------------------------------------------------------------------------
# Step 5. Install
# ---------------------------------------------------------------------------------------------------------------

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


# ---------------------------------------------------------------------------------------------------------------
# Processes: each command is a group of its own, and nothing of it survives it
# ---------------------------------------------------------------------------------------------------------------

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


# ---------------------------------------------------------------------------------------------------------------
# Step 6. Tasks: one process a (job, fold), one worker a device
# ---------------------------------------------------------------------------------------------------------------

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
            path = os.path.join(folder, "fold%d_status.json" % k)
            status = read_json(path)
            if status and signature(path) != self.before.get(k):
                out[k] = status
        return out

    def read_results(self, folder):
        """best and epochs from the status file, else from the curve."""
        if self.fold is None:
            return
        status = read_json(os.path.join(folder, "fold%d_status.json" % self.fold)) or {}
        curve = read_json(os.path.join(folder, "curve_fold%d.json" % self.fold)) or {}
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


def points_every(elapsed, running):
    """Seconds between two looks at the curves: quick in the first minute, while somebody watches, then 6 lines a minute
    for two tasks and 8 for eight."""
    return max(1.0, elapsed / 3) if elapsed < 60 else max(20.0, 7.5 * running)


def util_every(elapsed):
    """Seconds between two lines of utilisation."""
    return min(60.0, max(5.0, elapsed / 2))


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
            out = [("tpu%d" % k, dict(one_chip(k), **self.compile_cache("tpu%d" % k))) for k in range(hardware["tpu_chips"])]
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
            if by_fold:
                workers = self.workers(len(stage))
                stage.sort(key=lambda t: t.fold)
                stage.sort(key=lambda t: -self.predicted(t, stage))
                self.pool(stage, workers)
            else:
                for task in stage:
                    changes = whole_machine(self.config, self.record)
                    if changes:
                        changes.update(self.compile_cache("all"))
                    self.pool([task], [("all", changes)])

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
        task.before = {k: signature(os.path.join(folder, "fold%d_status.json" % k)) for k in task.folds(folder)}
        task.curves = {}
        task.attempts += 1
        task.state, task.device, task.worker, task.error, task.first_point, task.why = "running", label, worker, "", None, ""
        command = task.job.cmd if task.fold is None else task.job.cmd.replace("{fold}", str(task.fold))
        if task.job.launcher != "none":
            workers = max(1, len(self.record.data["hardware"]["gpus"]))  # they share the cores
            command = launched(command, task.job.launcher, workers)
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
        self.record.time("start_up", self.record.data["times"].get("start_up", task.process.started - T0))
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
        words = [str(s.get("status")) for s in task.read_status(folder).values()]
        task.read_results(folder)
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
            task.error = "\n".join(own_words(process.tail, task.job.launcher)[-15:])[-2000:] or "No output, %s." % how
        task.signature = error_signature(own_words(process.tail, task.job.launcher))
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
            path = os.path.join(folder, "curve_fold%d.json" % k)
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


def one_chip(k):
    """Environment for a process of its own on TPU chip k. None: unset.

    Kaggle's image exports TPU_PROCESS_ADDRESSES=local, which breaks a single-chip start; a value for the chip bounds
    also keeps libtpu from taking its one-process lock.
    """
    return {"PJRT_DEVICE": "TPU", "JAX_PLATFORMS": "tpu", "TPU_VISIBLE_CHIPS": str(k), "TPU_CHIPS_PER_PROCESS_BOUNDS": "1,1,1",
            "TPU_PROCESS_BOUNDS": "1,1,1", "TPU_PROCESS_ADDRESSES": None, "CLOUD_TPU_TASK_ID": None, "TPU_PROCESS_PORT": None,
            "TPU_VISIBLE_DEVICES": None, "TPU_CHIPS_PER_HOST_BOUNDS": None, "TPU_HOST_BOUNDS": None}


def whole_machine(config, record):
    """Environment for a command that gets every device."""
    if not config.get("accelerator", "none").lower().startswith("tpu") or not record.data["hardware"]["tpu_chips"]:
        return {}
    try:
        os.unlink("/tmp/libtpu_lockfile")  # left by a process that was killed; no task of ours runs now
    except OSError:
        pass
    return {"PJRT_DEVICE": "TPU", "TPU_PROCESS_ADDRESSES": None, "CLOUD_TPU_TASK_ID": None, "TPU_PROCESS_PORT": None}


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


# ---------------------------------------------------------------------------------------------------------------
# Utilisation: one long-lived nvidia-smi; without cards, the machine's CPU
# ---------------------------------------------------------------------------------------------------------------

class Sampler:
    """Samples (t, device, util %, memory MB, power W or None), and what they say about the tasks' own time."""

    FIELDS = ("timestamp,index,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,"
              "temperature.gpu,clocks.sm")

    def __init__(self, record, clock):
        self.record, self.samples, self.spans, self.open = record, [], [], {}
        self.every = number(setting("KG_SAMPLE_S"), min(10.0, max(1.0, clock.cap / 600)))
        self.sent, self.next_send, self.began_at = 0, 0.0, time.time()
        self.closed, self.child = threading.Event(), None
        cards = bool(record.data["hardware"]["gpus"]) and shutil.which("nvidia-smi") is not None
        threading.Thread(target=self.follow_cards if cards else self.follow_cpu, daemon=True).start()

    def follow_cards(self):
        argv = ["nvidia-smi", "--query-gpu=" + self.FIELDS, "--format=csv,noheader,nounits", "-l", str(max(1, round(self.every)))]
        for restart in range(1000):
            if self.closed.wait(min(60, 5 * restart)):
                return
            try:
                self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            except OSError:
                continue
            for raw in self.child.stdout:
                cells = [c.strip() for c in raw.decode("ascii", "replace").split(",")]
                util = number(cells[3], None) if len(cells) == 10 else None
                if util is not None and cells[1].isdigit():
                    self.samples.append((time.time(), "gpu" + cells[1], util, number(cells[5], 0.0), number(cells[7], None)))
            self.child.stdout.close()
            self.child.wait()
            if restart == 2 and not self.samples:
                self.record.finding("devices-silent", "info", "nvidia-smi gives no utilisation.")

    def follow_cpu(self):
        last = None
        while not self.closed.wait(self.every):
            try:
                with open("/proc/stat") as f:
                    ticks = [int(v) for v in f.readline().split()[1:9]]
                with open("/proc/meminfo") as f:
                    memory = {line.split(":")[0]: float(line.split()[1]) / 1024 for line in f}
            except (OSError, ValueError):
                return
            busy, total = sum(ticks) - ticks[3] - ticks[4], sum(ticks)
            if last and total > last[1]:
                self.samples.append((time.time(), "cpu", 100.0 * (busy - last[0]) / (total - last[1]),
                                     memory.get("MemTotal", 0.0) - memory.get("MemAvailable", 0.0), None))
            last = busy, total

    def began(self, task):
        self.open[task] = time.time()

    def ended(self, task):
        """Keeps the task's own time: its start, the moment from which it worked (its first score), its end."""
        began = self.open.pop(task)
        self.spans.append((task.device, began, began + (task.first_point or 0.0), time.time()))

    def flush(self):
        """Mean of the new samples of each device, as one telemetry line; every 5 s at first, every minute after two."""
        now = time.time()
        new = self.samples[self.sent:]
        if now < self.next_send or not new:
            return
        self.sent += len(new)
        self.next_send = now + util_every(now - self.began_at)
        devices = []
        for name in sorted({s[1] for s in new}):
            mine = [s for s in new if s[1] == name]
            power = [s[4] for s in mine if s[4] is not None]
            devices.append({"d": name, "util": round(sum(s[2] for s in mine) / len(mine), 1), "mem": round(max(s[3] for s in mine), 1),
                            "power": round(sum(power) / len(power), 1) if power else None})
        self.record.say("util", dev=devices)

    def summary(self):
        """Per device over its tasks' own time: start-up and the idle tail are not the tasks' fault.

        A device that had no task is judged over the time in which the others worked.
        """
        out = []
        for name in sorted({s[1] for s in self.samples}):
            mine = [s for s in self.samples if s[1] == name]
            spans = [s for s in self.spans if s[0] in (name, "all")] or self.spans
            worked = [s[2] for s in mine if any(a <= s[0] <= b for _, _, a, b in spans)]
            util = sorted(worked or [s[2] for s in mine if any(a <= s[0] <= b for _, a, _, b in spans)])
            if util:
                out.append({"device": name, "median": round(util[len(util) // 2], 1), "p10": round(util[len(util) // 10], 1),
                            "mem_peak_mb": round(max(s[3] for s in mine), 1), "n": len(util)})
        return out

    def close(self):
        self.closed.set()
        if self.child and self.child.poll() is None:
            self.child.kill()


# ---------------------------------------------------------------------------------------------------------------
# Step 7. Assemble each finished job once, then the post commands
# ---------------------------------------------------------------------------------------------------------------

def assemble(session, tasks):
    record, clock = session.record, session.clock
    env = session.threads(dict(session.env), 1)
    env.pop("KG_DEADLINE", None)  # joining is short and must not be cut off by the folds' deadline
    for job in record.jobs:
        if not job.complete(tasks):
            continue
        if job.assemble and not session.stopping:
            if time.time() >= clock.end:
                job.assembled = False
                record.finding("assemble-failed", "warn", "No time was left to assemble %s." % job.name)
                continue
            status, tail = session.command(job.assemble, job.name + "/assemble", file_part(job.name) + "_assemble.log", clock.end, env)
            job.assembled = status == 0
            if status != 0:
                record.finding("assemble-failed", "bad", "Assembling %s failed: %s" % (job.name, "\n".join(tail[-12:]) or "exit status %s" % status))
        job.score = read_json(os.path.join(session.artifacts, job.name, "score.json")) or {}
        if not isinstance(job.score.get("score"), (int, float)):
            job.score.pop("score", None)
        record.write()
    for n, command in enumerate(session.config.get("post") or ()):
        if session.stopping or time.time() >= clock.hard:
            record.finding("post-failed", "warn", "No time was left for: %s" % command)
            continue
        status, tail = session.command(command, "post", "post%d.log" % (n + 1), clock.end, env)
        if status != 0:
            record.finding("post-failed", "warn", "%s failed: %s" % (command, "\n".join(tail[-12:]) or "exit status %s" % status))


# ---------------------------------------------------------------------------------------------------------------
# Step 8. Close: what Kaggle keeps is complete, small in number, and says the truth
# ---------------------------------------------------------------------------------------------------------------

def remove_half_written(working):
    """Whatever a killed process was writing: it would count, and take room, in what Kaggle keeps."""
    for root in LINKED:  # not the folder itself: the manifest may just be written there
        for folder, _, names in os.walk(os.path.join(working, root)):
            for name in names:
                if HALF_WRITTEN.search(name):
                    try:
                        os.unlink(os.path.join(folder, name))
                    except OSError:
                        pass


def remove_checkpoints(artifacts, tasks):
    """fold<k>_resume.* of finished folds is of no use any more."""
    for task in tasks:
        folder = os.path.join(artifacts, task.job.name)
        if task.state not in ("done", "skipped", "pruned") or not os.path.isdir(folder):
            continue
        for name in os.listdir(folder):
            if re.match(r"fold_?\d+_resume", name) and task.fold in (None, fold_of(name)):
                try:
                    os.unlink(os.path.join(folder, name))
                except OSError:
                    pass


def pack_files(record, working, tasks):
    """More than 480 files: each fold becomes one archive, then logs, then whatever a folder holds most of.

    Curves and status files of folds stay as they are for as long as that is enough.
    """
    def count():
        return sum(1 for _ in record.manifest.files()) + (0 if os.path.exists(os.path.join(working, "manifest.json")) else 1)

    before = count()
    if before <= MAX_FILES:
        return
    artifacts = os.path.join(working, "artifacts")
    jobs = sorted(n for n in (os.listdir(artifacts) if os.path.isdir(artifacts) else ()) if os.path.isdir(os.path.join(artifacts, n)))
    for keep in (r"curve_fold\d+\.json$|fold\d+_status\.json$|.*\.zip$", r".*\.zip$"):
        for job in jobs:
            folder = os.path.join(artifacts, job)
            by_fold = collections.defaultdict(list)
            for name in sorted(os.listdir(folder)):
                if fold_of(name) is not None and not re.match(keep, name):
                    by_fold[fold_of(name)].append(name)
            if keep.startswith("curve"):
                for k, names in sorted(by_fold.items()):
                    if len(names) > 1:
                        pack(folder, names, "fold%d.zip" % k)
            elif count() > MAX_FILES:
                pack(folder, [n for names in by_fold.values() for n in names], "folds.zip")
        logs = os.path.join(working, "logs")
        if count() > MAX_FILES and len(os.listdir(logs)) > 1:
            pack(logs, sorted(n for n in os.listdir(logs) if n.endswith(".log")), "logs.zip")
    while count() > MAX_FILES:  # not folds: pack the fullest folder whole
        full = collections.Counter(os.path.dirname(path) for name, path in record.manifest.files() if "/" in name)
        folder, n = full.most_common(1)[0] if full else (None, 0)
        if n < 2:
            break
        pack(folder, sorted(e for e in os.listdir(folder) if os.path.isfile(os.path.join(folder, e)) and e != "files.zip"), "files.zip")
    record.finding("too-many-files", "info", "%d output files were packed into %d, because Kaggle keeps about 500." % (before, count()))


def pack(folder, names, archive):
    """Moves files (and whole sub-folders) of a folder into an archive beside them."""
    path = os.path.join(folder, archive)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED, allowZip64=True) as z:
        for name in names:
            full = os.path.join(folder, name)
            for base, _, files in os.walk(full) if os.path.isdir(full) else [(folder, [], [name])]:
                for f in files:
                    z.write(os.path.join(base, f), os.path.relpath(os.path.join(base, f), folder))
    for name in names:
        full = os.path.join(folder, name)
        shutil.rmtree(full) if os.path.isdir(full) else os.unlink(full)


def outcome(record, artifacts):
    """complete: every job is; partial: something is worth collecting; failed: nothing is."""
    if record.jobs and all(j.complete(record.tasks) and j.assembled is not False for j in record.jobs):
        return "complete"
    for task in record.tasks:
        if task.state in ("done", "skipped", "timeout", "pruned"):
            return "partial"
        folder = os.path.join(artifacts, task.job.name)
        if task.state == "killed" and os.path.isdir(folder) and any(
                task.fold is None or re.match(r"fold_?\d+_resume", n) and task.fold == fold_of(n) for n in os.listdir(folder)):
            return "partial"  # it can be continued from its last checkpoint; what a whole-machine command left is its own affair
    return "failed"


def close(session, record):
    """The last step, also after a failure. Returns the exit status."""
    began = time.time()
    record.say("session", phase="close")
    if session.sampler:
        session.sampler.flush()
        session.sampler.close()
        record.data["util"] = session.sampler.summary()
    for tidy, arguments in ((remove_checkpoints, (session.artifacts, record.tasks)), (remove_half_written, (session.working,)),
                            (settle_links, (record, session.artifacts, record.tasks)), (rescue, (session.scratch, session.working)),
                            (pack_files, (record, session.working, record.tasks))):
        try:
            tidy(*arguments)
        except (OSError, shutil.Error, zipfile.BadZipFile) as e:  # a full disk, say: what was trained is there all the same
            record.finding("close-failed", "bad", "%s failed at the end: %s" % (tidy.__name__, e))
    record.data["outcome"] = outcome(record, session.artifacts)
    status = 1 if record.data["outcome"] == "failed" else 0
    record.time("close", time.time() - began)
    record.time("total", time.time() - T0)
    for finding in record.data["findings"]:
        record.console.lines(["%s: %s" % (finding["level"], finding["text"])] if finding["level"] in ("warn", "bad") else [])
    record.say("end", outcome=record.data["outcome"], exit=status)
    record.telemetry.close()
    record.write()
    record.manifest.write()
    record.console.lines(["KG_RUN_STATUS %s: %s" % (j.name, "complete" if j.complete(record.tasks) else record.data["outcome"]
                                                    if record.data["outcome"] == "failed" else "partial") for j in record.jobs])
    return status


def rescue(scratch, working):
    """Results written beside artifacts/: a submission file, and the linked folders where no link could be made."""
    path = os.path.join(scratch, "submission.csv")
    if os.path.isfile(path) and not os.path.islink(path) and os.path.realpath(scratch) != os.path.realpath(working):
        shutil.copyfile(path, os.path.join(working, "submission.csv"))
    for name in LINKED:
        here, there = os.path.join(scratch, name), os.path.join(working, name)
        if os.path.isdir(here) and os.path.isdir(there) and not os.path.samefile(here, there):
            for base, _, files in os.walk(here):
                for f in files:
                    dest = os.path.join(there, os.path.relpath(os.path.join(base, f), here))
                    os.makedirs(os.path.dirname(dest), exist_ok=True)
                    shutil.copyfile(os.path.join(base, f), dest)


# ---------------------------------------------------------------------------------------------------------------
# The session
# ---------------------------------------------------------------------------------------------------------------

def link_results(working, scratch):
    """Makes artifacts/, subs/ and reports/ of the scratch folder links into the working folder."""
    for name in LINKED:
        os.makedirs(os.path.join(working, name), exist_ok=True)
        link(os.path.join(working, name), os.path.join(scratch, name))


def handle_signals(session):
    """SIGTERM and SIGINT end the session in good order."""
    def handler(number, frame):
        session.queue.put(("signal", number))  # SimpleQueue: safe in a handler
        session.stopping = session.stopping or "signal %d" % number
    try:
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), handler)
    except ValueError:
        pass  # not the main thread: somebody imported this file


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


def steps(config, files, tables, session, record, root):
    """Preflight to post commands. Raises Stop when there is nothing to go on with."""
    clock, scratch = session.clock, session.scratch
    with Phase(record, "start", build=config.get("build_id", ""), deadline=round(clock.graceful, 3)):
        with Phase(record, "preflight", told=False):
            preflight(config, record)
        unpack(config, files, tables, scratch)
        record.jobs = [Job(spec) for spec in config["jobs"]]
        tasks = record.tasks = [Task(j, k) for j in record.jobs for k in (j.folds or [None])]
    record.write()
    with Phase(record, "inputs"):
        found = bring_inputs(config, record, root, scratch)
        resume(config, record, found, tasks, session.artifacts, os.path.join(scratch, "_sandglass"))
        for task in tasks:
            if task.state != "waiting":
                task.read_results(os.path.join(session.artifacts, task.job.name))
                session.tell(task)
    session.base_env(found)
    if config.get("pip"):
        with Phase(record, "install"):
            install(config, record, found, session)
    record.write()
    waiting = [t for t in tasks if t.state == "waiting"]
    session.tasks_began = time.time()
    session.sampler = Sampler(record, clock) if waiting else None
    with Phase(record, "tasks", build=config.get("build_id", ""), deadline=round(clock.graceful, 3),
               workers=len(session.workers(len(waiting))), tasks=len(waiting), hardware=record.data["hardware"]):
        session.run(tasks)
    with Phase(record, "assemble"):
        assemble(session, tasks)


def main(config, files, tables, scratch):
    """Runs the session. Returns the exit status: 0 when anything worth collecting was produced.

    config: the script's settings; files and tables: its payload (see unpack); scratch: an empty folder.
    """
    working = os.path.abspath(setting("KAGGLE_WORKING") or "/kaggle/working")
    root = os.path.abspath(setting("KAGGLE_INPUT") or "/kaggle/input")
    os.makedirs(working, exist_ok=True)
    console, clock = Console(), Clock(float(config["hours"]))
    record = Record(config, working, clock, console)
    link_results(working, scratch)
    session = Session(config, record, clock, console, scratch, working)
    handle_signals(session)
    try:
        steps(config, files, tables, session, record, root)
    except Stop as stop:
        record.finding(stop.code, "bad", stop.text)
        console.lines([stop.text])
    except Exception:
        record.finding("runner-error", "bad", "The runner itself failed: " + traceback.format_exc()[-1500:])
    finally:
        for process, task in list(session.running.items()):
            process.stop(0)
            task.state, task.error, task.seconds = "killed", task.error or "The session ended.", time.time() - process.started
            process.finish()
        session.running.clear()
    if session.stopping:
        record.finding("stopped", "warn", "The session was told to stop (%s) and stopped its tasks." % session.stopping)
    return close(session, record)
