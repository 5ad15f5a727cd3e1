#!@@PYTHON@@
"""Stand-in for nvidia-smi inside a sandbox session that pretends to have GPUs.

It prints the real program's format for what session scripts ask: -L, and --query-gpu=... with --format=csv[,noheader]
[,nounits], once or every N seconds (-l N). There is no GPU here, so nothing about one is made up:
  utilization.gpu     is this machine's real CPU load since the sample before (all cores; the same for each fake GPU),
  utilization.memory  and memory.used are this machine's real memory in use (capped at the fake card's size),
  power, temperature and clocks are "[N/A]", which is what the real one prints for what it cannot measure.
Only name, memory.total and the like are the card's that was asked for.
"""
import os
import sys
import time

COUNT = int(os.environ.get("SANDGLASS_FAKE_GPUS") or "@@COUNT@@")
NAME = "@@NAME@@"
TOTAL = @@MEMORY@@  # MiB
CAPABILITY = "@@CAPABILITY@@"
UNITS = {"utilization.gpu": "%", "utilization.memory": "%", "memory.used": "MiB", "memory.total": "MiB",
         "memory.free": "MiB", "power.draw": "W", "power.limit": "W", "clocks.sm": "MHz", "clocks.mem": "MHz",
         "clocks.gr": "MHz"}
SHORT = {"uuid": "gpu_uuid", "clocks.current.sm": "clocks.sm"}


def cpu_times():
    """(busy, total) jiffies since boot, or None where the system does not say."""
    try:
        with open("/proc/stat") as f:
            n = [int(x) for x in f.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
    idle = n[3] + n[4]
    return sum(n) - idle, sum(n)


def cpu_load(before, now):
    """Percent of the machine's cores that were busy between two readings; None when unknown."""
    if before and now and now[1] > before[1]:
        return max(0, min(100, round(100 * (now[0] - before[0]) / (now[1] - before[1]))))
    if hasattr(os, "getloadavg"):
        return max(0, min(100, round(100 * os.getloadavg()[0] / (os.cpu_count() or 1))))
    return None


def memory_share():
    """Share of the machine's memory that is in use, 0 to 1, and the use in MiB; None when unknown."""
    try:
        got = {}
        with open("/proc/meminfo") as f:
            for line in f:
                key, _, rest = line.partition(":")
                got[key] = int(rest.split()[0])
        used = got["MemTotal"] - got["MemAvailable"]
        return used / got["MemTotal"], used // 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def uuid(i):
    return "GPU-5a4d6c61-7373-4000-8000-%012x" % i


def value(field, i, load, memory):
    used = None if memory is None else min(memory[1], TOTAL)
    known = {
        "timestamp": time.strftime("%Y/%m/%d %H:%M:%S", time.localtime()) + ".%03d" % (time.time() % 1 * 1000),
        "index": i, "name": NAME, "gpu_name": NAME, "gpu_uuid": uuid(i), "count": COUNT,
        "driver_version": "0.0 (sandbox)", "pci.bus_id": "00000000:00:%02X.0" % (4 + i), "compute_cap": CAPABILITY,
        "memory.total": TOTAL, "memory.used": used, "memory.free": None if used is None else TOTAL - used,
        "utilization.gpu": load, "utilization.memory": None if memory is None else round(100 * memory[0]),
        "power.draw": None, "power.limit": None, "temperature.gpu": None, "clocks.sm": None, "clocks.mem": None,
        "clocks.gr": None, "pstate": None, "fan.speed": None,
    }
    field = SHORT.get(field, field)
    if field not in known:
        sys.stdout.write('Field "%s" is not a valid field to query.\n\n' % field)
        sys.exit(2)
    return known[field]


def show(fields, fmt, header, before, picked):
    now = cpu_times()
    load, memory = cpu_load(before, now), memory_share()
    units = "nounits" not in fmt
    lines = []
    if header:
        lines.append(", ".join(f + (" [%s]" % UNITS[f] if f in UNITS else "") for f in fields))
    for i in picked:
        row = []
        for f in fields:
            v = value(f, i, load, memory)
            row.append("[N/A]" if v is None else "%s %s" % (v, UNITS[f]) if units and f in UNITS else str(v))
        lines.append(", ".join(row))
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return now


def main(argv):
    fields, fmt, every, picked, listing = [], ["csv"], 0.0, list(range(COUNT)), False
    args = list(argv)
    while args:
        arg = args.pop(0)
        key, eq, val = arg.partition("=")
        if key in ("-l", "--loop", "-lms", "--loop-ms", "-i", "--id") and not eq:
            val = args.pop(0) if args and not args[0].startswith("-") else "5"
        if key in ("-L", "--list-gpus"):
            listing = True
        elif key == "--query-gpu":
            fields = [f.strip() for f in val.split(",") if f.strip()]
        elif key == "--format":
            fmt = val.split(",")
        elif key in ("-l", "--loop"):
            every = float(val)
        elif key in ("-lms", "--loop-ms"):
            every = float(val) / 1000
        elif key in ("-i", "--id"):
            picked = [int(x) for x in val.split(",") if x.isdigit() and int(x) < COUNT]
        else:
            sys.stdout.write("The sandbox's nvidia-smi knows -L, --query-gpu, --format, -l, -lms and -i, not %s.\n" % arg)
            return 2
    if COUNT < 1:
        sys.stdout.write("No devices were found\n")
        return 6
    if listing:
        for i in picked:
            sys.stdout.write("GPU %d: %s (UUID: %s)\n" % (i, NAME, uuid(i)))
        return 0
    if not fields:
        fields, fmt = ["index", "name", "memory.used", "memory.total", "utilization.gpu"], ["csv"]
    before = cpu_times()
    if not every:
        time.sleep(0.1)  # a load needs two readings
    header = "noheader" not in fmt
    while True:
        if every:
            time.sleep(min(every, 0.1) if header or before is None else 0)
        before = show(fields, fmt, header, before, picked)
        header = False
        if not every:
            return 0
        time.sleep(every)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
