"""What is special about a TPU. Travels with TPU runs only. Nothing here opens a chip."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time

from tools import number, setting


def wrong_image():
    """A sentence when the image has no TPU software, else None. Looks, and imports nothing: a process that has
    initialised the TPU would hold its chips."""
    fake = setting("SANDGLASS_FAKE_TPU_IMAGE")
    if fake is None and setting("SANDGLASS_FAKE_TPU_CHIPS") is not None:
        return None  # a rehearsal needs no TPU software
    import importlib.util
    there = fake != "0" if fake is not None else setting("ISTPUVM") or any(importlib.util.find_spec(m) for m in ("torch_xla", "jax", "libtpu"))
    return None if there else "this is not the TPU image: neither torch_xla nor jax can be imported, and ISTPUVM is not set"


def one_chip(k):
    """Environment for a process of its own on TPU chip k. None: unset.

    Kaggle's image exports TPU_PROCESS_ADDRESSES=local, which breaks a single-chip start; a value for the chip bounds
    also keeps libtpu from taking its one-process lock.
    """
    return {"PJRT_DEVICE": "TPU", "JAX_PLATFORMS": "tpu", "TPU_VISIBLE_CHIPS": str(k), "TPU_CHIPS_PER_PROCESS_BOUNDS": "1,1,1",
            "TPU_PROCESS_BOUNDS": "1,1,1", "TPU_PROCESS_ADDRESSES": None, "CLOUD_TPU_TASK_ID": None, "TPU_PROCESS_PORT": None,
            "TPU_VISIBLE_DEVICES": None, "TPU_CHIPS_PER_HOST_BOUNDS": None, "TPU_HOST_BOUNDS": None}


def whole_machine():
    """Environment for one process that gets every chip."""
    try:
        os.unlink("/tmp/libtpu_lockfile")  # left by a process that was killed; no task of ours runs now
    except OSError:
        pass
    return {"PJRT_DEVICE": "TPU", "TPU_PROCESS_ADDRESSES": None, "CLOUD_TPU_TASK_ID": None, "TPU_PROCESS_PORT": None}


def run_counted(argv, limit):
    """(exit status, stdout, CPU seconds) of a short command; (None, "", 0) when it cannot be run, takes too long, or the
    system does not count."""
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    except (OSError, ValueError):
        return None, "", 0.0
    late = threading.Timer(limit, lambda: os.killpg(child.pid, signal.SIGKILL))
    late.start()
    try:
        text = child.stdout.read().decode("utf-8", "replace")
        _, ended, used = os.wait4(child.pid, 0)
    except (OSError, AttributeError):
        return None, "", 0.0
    finally:
        late.cancel()
        child.stdout.close()
    child.returncode = os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else -os.WTERMSIG(ended)
    return child.returncode, text, used.ru_utime + used.ru_stime


def read_tpu_info(text):
    """{chip: (duty cycle in %, HBM in MB)} of what tpu-info prints: tables with a title, drawn with | or with lines.

    A chip without a duty cycle ("N/A": nothing runs on it) is left out. The TensorCore table is another measure.
    """
    title, util, memory = "", {}, {}
    for line in text.splitlines():
        cells = [c.strip() for c in re.split("[|\u2502\u2503]", line.strip().strip("|\u2502\u2503"))]
        if len(cells) == 1:
            title = cells[0] or title
        elif cells[0].isdigit() and "TensorCore" not in title:
            for cell in cells[1:]:
                share, hbm = re.fullmatch(r"([\d.]+)\s*%", cell), re.match(r"([\d.]+) GiB /", cell)
                if share:
                    util[int(cells[0])] = number(share.group(1), 0.0)
                if hbm:
                    memory[int(cells[0])] = round(number(hbm.group(1), 0.0) * 1024, 1)
    return {chip: (share, memory.get(chip, 0.0)) for chip, share in util.items()}


def follow(sampler):
    """Asks tpu-info now and then, in a thread of the sampler's; without it the curves' seconds an epoch are all there is.

    It reads what the process that trains publishes on a local port: it opens no chip. Each call is a Python program of a second or so of CPU time, so the pause is 200 times what the last one took.
    """
    pause, chips, told = sampler.every, sampler.record.data["hardware"]["tpu_chips"], False
    argv = ["tpu-info", "--metric", "duty_cycle_percent", "--metric", "hbm_usage"]
    while shutil.which("tpu-info") and not sampler.closed.wait(max(pause, sampler.every)):
        status, text, cpu = run_counted(argv, 30)
        pause = 200 * cpu
        if status == 2 and len(argv) > 1:
            argv, pause = argv[:1], 0.0  # a release before --metric; its one view has both
            continue
        rows = read_tpu_info(text) if status == 0 else {}
        now = time.time()
        for place, (chip, (util, memory)) in enumerate(sorted(rows.items())):
            # Numbers of a part of a larger slice do not start at 0: then the place counts.
            sampler.samples.append((now, "tpu%d" % (place if len(rows) == chips else chip), util, memory, None))
        if rows and len(rows) < chips and not told:
            told = True
            sampler.record.finding("chips-partly-seen", "info", "tpu-info showed %d of the %d chips: with a process for each chip it sees "
                                "the process that has its port." % (len(rows), chips))
