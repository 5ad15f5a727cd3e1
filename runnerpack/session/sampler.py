"""How busy the devices are: one long-lived nvidia-smi; without cards, the machine's CPU."""

import shutil
import subprocess
import threading
import time

from tools import number, setting


class Sampler:
    """Samples (t, device, util %, memory MB, power W or None), and what they say about the tasks' own time."""

    FIELDS = ("timestamp,index,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,"
              "temperature.gpu,clocks.sm")

    def __init__(self, record, clock):
        self.record, self.samples, self.spans, self.open = record, [], [], {}
        self.every = number(setting("KG_SAMPLE_S"), min(10.0, max(1.0, clock.cap / 600)))
        self.sent, self.next_send, self.began_at = 0, 0.0, time.time()
        self.closed, self.child = threading.Event(), None
        hardware = record.data["hardware"]
        follow = self.follow_cpu
        if hardware["gpus"] and shutil.which("nvidia-smi"):
            follow = self.follow_cards
        elif hardware["tpu_chips"] and record.data["accelerator"].lower().startswith("tpu"):
            follow = self.follow_chips
        threading.Thread(target=follow, daemon=True).start()

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

    def follow_chips(self):
        import tpu
        tpu.follow(self)

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


def util_every(elapsed):
    """Seconds between two lines of utilisation."""
    return min(60.0, max(5.0, elapsed / 2))
