"""Is training waiting for its data? Which batch size fits? Answers from a few seconds of the real loop.

    bench = Bench("idea", batch_size=32, device="cuda")
    for batch in bench.batches(loader, steps=30):
        train(batch)
    bench.write()                      # prints one line, appends one record to reports/bench.jsonl

or, around a loop of another shape:

    with bench.waiting():
        batch = next(batches)
    with bench.working():
        train(batch)

A step is the wait for a batch and the work on it. When the wait is more than a fifth of the step the run is
input-bound: a faster device gains nothing, faster loading does. The first steps are left out, because they compile, tune
and fill caches. Work on a GPU or TPU runs behind the caller's back; it is waited for at the end of every step, which costs
a little speed and makes the split true.

A record of reports/bench.jsonl is one JSON object on a line:

    schema 1     time (UTC)     name     device ("cpu", "cuda", "xla")     batch_size (null when not said)
    steps        how many were measured, after `skipped` first ones
    step_s       median seconds a step     data_wait_s   median seconds of waiting in it
    wait_share   total wait over total step time, 0 to 1     verdict   "input-bound" or "compute-bound"; null without steps
    samples_per_s  null without a batch size
    memory       null, or {points: [{batch, bytes}], m0_bytes, m1_bytes_per_sample, total_bytes, largest_batch}
    note         what the script wants to add, or ""

Memory: the high-water mark of a step grows with the batch in a straight line, m0 + m1 * batch. Two batch sizes fix the
line; largest_batch is what fits into nine tenths of the device's memory (the allocator needs the rest), null if unknown.
"""

import contextlib
import json
import os
import sys
import time

INPUT_BOUND = 0.20   # share of waiting above which a run counts as input-bound
USABLE = 0.90        # share of a device's memory that a batch may use


class Bench:
    """Measures one training loop.

    name         of the job
    batch_size   samples a step
    device       "cpu", "cuda" or "xla", or a torch device
    skip         first steps that are not counted
    synchronize  called at the end of each step to wait for the device; found from device if not given
    clock        seconds, for tests
    """

    def __init__(self, name, batch_size=None, device="cpu", skip=3, synchronize=None, clock=time.perf_counter):
        self.name, self.batch_size, self.device, self.skip = name, batch_size, kind(device), skip
        self._synchronize = synchronize if synchronize is not None else synchronizer(self.device)
        self._clock, self._wait, self.steps, self.points, self.note = clock, 0.0, [], {}, ""

    # -- time

    @contextlib.contextmanager
    def waiting(self):
        """Around what fetches a batch."""
        began = self._clock()
        yield
        self._wait += self._clock() - began

    @contextlib.contextmanager
    def working(self):
        """Around what trains on it. Ends a step."""
        began = self._clock()
        yield
        self._synchronize()
        self._end(self._clock() - began)

    def batches(self, loader, steps=None):
        """Yields the loader's batches, `steps` after the skipped ones (all of them if None), and measures the loop."""
        source = iter(loader)
        while steps is None or len(self.steps) < self.skip + steps:
            began = self._clock()
            try:
                batch = next(source)
            except StopIteration:
                return
            fetched = self._clock()
            self._wait += fetched - began
            yield batch
            self._synchronize()
            self._end(self._clock() - fetched)

    def _end(self, worked):
        self.steps.append((self._wait, self._wait + worked))
        self._wait = 0.0

    # -- memory

    @contextlib.contextmanager
    def memory(self, batch_size):
        """Around one or two training steps of a given batch size: notes the memory's high-water mark. Call it with two
        sizes, the smaller first: freed memory does not always go back to the system."""
        reset_peak(self.device)
        yield
        self._synchronize()
        high = peak_bytes(self.device)
        if high is not None:
            self.points[int(batch_size)] = high

    # -- the answer

    def record(self):
        """The record as described above."""
        counted = self.steps[self.skip:]
        wait, whole = sum(w for w, _ in counted), sum(s for _, s in counted)
        share = rounded(wait / whole) if whole > 0 else None
        step = median([s for _, s in counted])
        return {
            "schema": 1, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "name": self.name, "device": self.device,
            "batch_size": self.batch_size, "steps": len(counted), "skipped": min(self.skip, len(self.steps)),
            "step_s": rounded(step), "data_wait_s": rounded(median([w for w, _ in counted])), "wait_share": share,
            "verdict": None if share is None else "input-bound" if share > INPUT_BOUND else "compute-bound",
            "samples_per_s": rounded(self.batch_size * len(counted) / whole) if self.batch_size and whole > 0 else None,
            "memory": self._memory(), "note": self.note,
        }

    def _memory(self):
        if not self.points:
            return None
        m0, m1 = fit_line(sorted(self.points.items()))
        total = total_bytes(self.device)
        return {"points": [{"batch": b, "bytes": m} for b, m in sorted(self.points.items())],
                "m0_bytes": None if m0 is None else round(m0), "m1_bytes_per_sample": None if m1 is None else round(m1),
                "total_bytes": total, "largest_batch": largest_batch(m0, m1, total)}

    def write(self, path=os.path.join("reports", "bench.jsonl")):
        """Appends the record in one write, so that two processes do not mix their lines, and prints the answer."""
        row = self.record()
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        line = (json.dumps(row, allow_nan=False) + "\n").encode("ascii")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
        print(sentence(row), flush=True)
        return row


def sentence(row):
    """A record in words."""
    if row["verdict"] is None:
        return "bench %s: too few steps to tell" % row["name"]
    text = "bench %s: %s, %.0f %% of a step of %.1f ms is waiting for data" % (row["name"], row["verdict"], 100 * row["wait_share"], 1e3 * row["step_s"])
    if row["samples_per_s"]:
        text += "; %.1f samples/s" % row["samples_per_s"]
    memory = row["memory"]
    if memory and memory["m1_bytes_per_sample"]:
        text += "; memory %.0f MB + %.2f MB a sample" % (memory["m0_bytes"] / 1e6, memory["m1_bytes_per_sample"] / 1e6)
        if memory["largest_batch"]:
            text += ", batches up to %d fit" % memory["largest_batch"]
    return text


def fit_line(points):
    """(m0, m1) of the line m0 + m1 * batch nearest to [(batch, bytes)], or (None, None) with fewer than two sizes."""
    if len(points) < 2:
        return None, None
    n = float(len(points))
    mean_b, mean_m = sum(b for b, _ in points) / n, sum(m for _, m in points) / n
    spread = sum((b - mean_b) ** 2 for b, _ in points)
    m1 = sum((b - mean_b) * (m - mean_m) for b, m in points) / spread
    return mean_m - m1 * mean_b, m1


def largest_batch(m0, m1, total):
    """The largest batch that fits into USABLE of total bytes, or None when that is not known."""
    if m0 is None or not total or m1 <= 0:
        return None
    return max(0, int((USABLE * total - m0) // m1))


def median(values):
    """The middle value, None of nothing."""
    if not values:
        return None
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2.0


def rounded(value):
    return None if value is None else float("%.6g" % value)


# -- devices

def kind(device):
    """"cpu", "cuda" or "xla" of a name or a torch device."""
    return str(getattr(device, "type", device)).split(":")[0]


def synchronizer(device):
    """A function that waits until the device has done what it was told."""
    if device == "cuda":
        import torch
        return torch.cuda.synchronize
    if device == "xla":
        from sandglass import xla
        return lambda: xla.sync(wait=True)
    return lambda: None


def reset_peak(device):
    """Begins a new high-water mark."""
    if device == "cuda":
        import torch
        torch.cuda.reset_peak_memory_stats()
    elif device == "cpu" and sys.platform.startswith("linux"):
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as f:
            f.write("5")  # proc(5): resets the peak resident set size


def peak_bytes(device):
    """The high-water mark since reset_peak, in bytes, or None where it cannot be told (a TPU)."""
    if device == "cuda":
        import torch
        return torch.cuda.max_memory_allocated()
    if device == "cpu":
        return _proc("/proc/self/status", "VmHWM:")
    return None


def total_bytes(device):
    """The device's memory, or None."""
    if device == "cuda":
        import torch
        return torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    return _proc("/proc/meminfo", "MemTotal:") if device == "cpu" else None


def _proc(path, field):
    """A field of a /proc file that counts in kB, in bytes."""
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            for line in f:
                if line.startswith(field):
                    return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return None
