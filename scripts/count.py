"""Reads `go test -json` from standard input, prints what failed with its output, and a line of counts.

Usage: go test -json ./... | python3 scripts/count.py TOTALS_FILE
Appends "passed failed skipped" to TOTALS_FILE and exits 1 when anything failed.
"""
import collections
import json
import sys


def main():
    output = collections.defaultdict(list)
    counts = collections.Counter()
    failed = []
    for line in sys.stdin:
        try:
            event = json.loads(line)
        except ValueError:
            sys.stdout.write(line)
            continue
        key = (event.get("Package") or event.get("ImportPath", ""), event.get("Test", ""))
        action = event.get("Action")
        if action in ("output", "build-output"):
            output[key].append(event.get("Output", ""))
        elif action in ("pass", "fail", "skip"):
            if key[1]:
                counts[action] += 1
            elif action == "fail" and not any(k[0] == key[0] for k in failed):
                counts["fail"] += 1  # a package that failed without a test: it did not build, or it crashed
            if action == "fail":
                failed.append(key)
            else:
                output.pop(key, None)
            if not key[1] and action != "skip":
                print("%-5s %s  %.1f s" % (action, key[0], event.get("Elapsed", 0)), flush=True)
        elif action == "build-fail":
            failed.append(key)
    for key in failed:
        print("\n--- FAIL %s %s" % key)
        print("".join(output.get(key, [])[-200:]))
    with open(sys.argv[1], "a") as totals:
        totals.write("%d %d %d\n" % (counts["pass"], counts["fail"], counts["skip"]))
    sys.exit(1 if failed else 0)


main()
