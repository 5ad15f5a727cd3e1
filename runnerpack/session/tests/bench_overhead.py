"""Prints what the runner costs. Figures, no verdict: they depend on the machine.

    python3 runnerpack/session/tests/bench_overhead.py [repetitions]

- From the start of the script to the first task, and how much of it is the preflight.
- Five tasks that end at once on two workers: the whole session, Python's start included, beside the preflight.
- The sampler: CPU time a sample times samples a second, in an ordinary session of an hour. nvidia-smi itself is another
  process and not in it. Pretended GPUs throughout.
"""

import os
import statistics
import sys
import time

from harness import Case, job

import sampler
import tools


class Bench(Case):
    def runTest(self):
        pass


class Quiet:
    """A record that keeps nothing."""

    data = {"hardware": {"gpus": []}}

    def say(self, *args, **fields):
        pass


def session():
    """(first task, preflight, whole beside preflight, CPU time of all of it) of five instant tasks on two workers, s."""
    case = Bench()
    case.setUp()
    try:
        began, before = time.time(), os.times()
        ran = case.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(cmd="true {fold}", folds=range(5))]}, env={"SANDGLASS_FAKE_GPUS": "2"})
        whole, after = time.time() - began, os.times()
        if ran.code:
            raise SystemExit(ran.output)
        times = ran.run["times"]
        return times["start_up"], times["preflight"], whole - times["preflight"], sum(after[2:4]) - sum(before[2:4])
    finally:
        case.doCleanups()


def sampling():
    """Share of a core that sampling takes: reading nvidia-smi's lines for two cards, and telling of them."""
    rounds = 5000
    case = Bench()
    case.setUp()
    try:
        text = "".join("2026/01/01 00:00:00.000, %d, Tesla T4, 90, 20, 1000, 15360, 60.5, 50, 1590\n" % k for k in (0, 1)) * rounds
        case.put("lines.txt", text)
        smi = case.put("bin/nvidia-smi", "#!/bin/sh\ncat '%s'\nexec sleep 60\n" % os.path.join(case.dir, "lines.txt"))
        os.chmod(smi, 0o755)
        os.environ["PATH"] = os.path.dirname(smi) + os.pathsep + os.environ["PATH"]
        record = Quiet()
        record.data = {"hardware": {"gpus": [{}, {}]}}
        began = time.process_time()  # of this process, all threads
        found = sampler.Sampler(record, tools.Clock(1.0, 0.0))
        while len(found.samples) < 2 * rounds:
            time.sleep(0.01)
        found.flush()
        used = (time.process_time() - began) / rounds
        found.close()
        return used / found.every
    finally:
        case.doCleanups()


def main():
    rows = [session() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)]
    for name, values in zip(("script start to first task", "of it preflight", "5 instant tasks, 2 workers, beside preflight",
                             "of it CPU time, on a busy machine the truer one"), zip(*rows)):
        print("%-48s median %.3f s, longest %.3f s" % (name + ":", statistics.median(values), max(values)))
    print("%-48s %.5f %% of a core" % ("sampler, two cards:", 100 * sampling()))


if __name__ == "__main__":
    main()
