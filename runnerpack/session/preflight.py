"""Step 1: is this the machine that was asked for? Answered within a minute, before anything is paid for in hours."""

import json
import os
import re
import signal
import subprocess
import sys

from tools import POSIX, Stop, number, setting


# Accelerators with a known number of devices: how many, and what the device's name contains.
PLANNED = {"NvidiaTeslaT4": (2, "T4"), "NvidiaTeslaP100": (1, "P100"), "NvidiaL4": (4, "L4"), "NvidiaL4X1": (1, "L4"),
           "NvidiaTeslaA100": (1, "A100"), "NvidiaH100": (1, "H100"), "NvidiaRtxPro6000": (1, "RTX")}


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
    if problem is None and accelerator.lower().startswith("tpu"):
        import tpu
        text = tpu.wrong_image()
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
