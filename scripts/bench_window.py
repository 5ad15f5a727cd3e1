"""Start to mapped window, and resident memory two seconds later, of bin/sandglass and bin/hello in turn.

Prints the median of each and the ratios. Run inside scripts/headless.
"""
import os
import statistics
import subprocess
import tempfile
import time

RUNS = 7


def one(binary, title):
    """Returns (seconds from start to mapped window, resident MiB two seconds later)."""
    env = dict(os.environ, SANDGLASS_HOME=tempfile.mkdtemp(prefix="sandglass-bench-"))
    began = time.monotonic()
    process = subprocess.Popen([binary], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while subprocess.run(["xdotool", "search", "--onlyvisible", "--name", title], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if process.poll() is not None:
                raise SystemExit("%s ended with %s" % (binary, process.returncode))
        mapped = time.monotonic() - began
        time.sleep(2)
        with open("/proc/%d/status" % process.pid) as f:
            rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:")) / 1024
        return mapped, rss
    finally:
        process.kill()
        process.wait()


def main():
    figures = {"bin/hello": [], "bin/sandglass": []}
    for i in range(RUNS + 1):
        for binary, title in (("bin/hello", "^Hello$"), ("bin/sandglass", "^Sandglass")):
            got = one(binary, title)
            if i:  # the first round warms the caches
                figures[binary].append(got)
    medians = {}
    for binary, got in figures.items():
        medians[binary] = [statistics.median(column) for column in zip(*got)]
        print("%-14s  window after %4.0f ms   resident %5.1f MiB   (median of %d)" % (
            binary, medians[binary][0] * 1000, medians[binary][1], RUNS))
    print("ratio           start %.2f   memory %.2f" % tuple(a / b for a, b in zip(medians["bin/sandglass"], medians["bin/hello"])))


main()
