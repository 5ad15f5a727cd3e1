"""Prints what the runner costs: from the start of the script to its first task, and five instant tasks on two workers.

    python3 runnerpack/session/tests/bench_overhead.py [repetitions]

Not a test: the numbers depend on the machine. Pretended GPUs, so that no nvidia-smi is asked.
"""

import statistics
import sys
import time

from harness import Case, job


class Bench(Case):
    def runTest(self):
        pass


def main():
    first, five = [], []
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        case = Bench()
        case.setUp()
        try:
            began = time.time()
            ran = case.session({"accelerator": "NvidiaTeslaT4", "jobs": [job(cmd="true {fold}", folds=range(5))]}, env={"SANDGLASS_FAKE_GPUS": "2"})
            five.append(time.time() - began)
            if ran.code:
                raise SystemExit(ran.output)
            first.append(ran.run["times"]["start_up"])
        finally:
            case.doCleanups()
    print("script start to first task:      median %.3f s, longest %.3f s" % (statistics.median(first), max(first)))
    print("whole session, 5 instant tasks:  median %.3f s, longest %.3f s (with starting Python)" % (statistics.median(five), max(five)))


if __name__ == "__main__":
    main()
