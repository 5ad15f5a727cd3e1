"""Runs a kernel's script on this computer, for a rehearsal: the very file that would be pushed, with settings of its own.

rehearsal.json beside the session's folders says which script, and what is different: the cap, --smoke in the commands, no
pip. Nothing in the script changes. What the rehearsal wants to know besides the session's own record goes to shipped.json
(the files that the script carries), look.json (what can be seen in them) and busy.json (how busy each task was near the end).
"""
import ast
import importlib.util
import json
import os
import re
import sys
import threading
import time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def save(name, value):
    with open(os.path.join(HOME, name), "w", encoding="utf-8") as f:
        json.dump(value, f)


ELSEWHERE = re.compile(r"(/home/|/Users/|/root/|/mnt/c/|[A-Za-z]:[\\/])[\w. -]+")


def look(files):
    """{imports, places}: what the project's modules import at their top and is not here, and the folders of a computer that
    stand in their texts; each with its file and line. A module that cannot be parsed is left to the run itself."""
    out = {"imports": [], "places": []}
    names = [n for n in files.getnames() if n.endswith(".py") and not n.startswith(("sandglass/", "kgkit/", "_sandglass/"))]
    own = {part for n in names for part in n[:-3].split("/")}
    for name in names:
        try:
            tree = ast.parse(files.extractfile(name).read())
        except (SyntaxError, ValueError):
            continue
        for node in tree.body:
            wanted = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for top in sorted({w.split(".")[0] for w in wanted} - own - {"sandglass", "kgkit"}):
                try:
                    there = importlib.util.find_spec(top) is not None
                except (ImportError, ValueError):
                    there = True
                if not there:
                    out["imports"].append({"what": top, "by": "%s:%d" % (name, node.lineno)})
        for node in ast.walk(tree):
            value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and len(value) < 1000 and "\n" not in value and ELSEWHERE.match(value):
                out["places"].append({"what": value, "by": "%s:%d" % (name, node.lineno)})
    return out


def cpu_seconds():
    """{"job/fold": CPU seconds of its processes}; None where there is no /proc."""
    if not os.path.isdir("/proc/self"):
        return None
    out, tick = {}, os.sysconf("SC_CLK_TCK")
    mine = ("SANDGLASS_SESSION_MARK=" + os.environ.get("SANDGLASS_SESSION_MARK", "")).encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                env = f.read().split(b"\0")
            with open("/proc/%s/stat" % pid, "rb") as f:
                fields = f.read().rpartition(b")")[2].split()
        except OSError:
            continue
        job, fold = ([v.partition(b"=")[2].decode("utf-8", "replace") for v in env if v.startswith(name)] for name in (b"SANDGLASS_JOB=", b"SANDGLASS_FOLD="))
        if mine in env and job and len(fields) > 12:
            key = "%s/%s" % (job[0], fold[0] if fold else "")
            out[key] = out.get(key, 0.0) + (int(fields[11]) + int(fields[12])) / tick
    return out


def measure(at, span):
    """busy.json: the share of a core that each task used in the last span seconds before at (unix s)."""
    time.sleep(max(0.0, at - span - time.time()))
    began, before = time.time(), cpu_seconds()
    time.sleep(max(0.0, at - time.time()))
    after, spent = cpu_seconds(), time.time() - began
    if before is not None and spent > 0:
        save("busy.json", {k: (after[k] - before[k]) / spent for k in before if k in after})


def main():
    with open(os.path.join(HOME, "rehearsal.json"), encoding="utf-8") as f:
        told = json.load(f)
    with open(told["script"], encoding="ascii") as f:
        code = compile(f.read(), told["script"], "exec")
    began = time.time()
    kernel = {"__name__": "rehearsed_kernel", "__file__": told["script"]}
    exec(code, kernel)
    config = kernel["CONFIG"]
    config.update(hours=told["hours"], pip=[], wheels=[], allow_missing_inputs=True, retry=0, post=told["post"], durations={})
    for job, commands in zip(config["jobs"], told["jobs"]):
        job["cmd"], job["assemble"] = commands["cmd"], commands["assemble"]
    files, _ = kernel["open_payload"]()
    save("shipped.json", files.getnames() + [s["path"] for s in config.get("splits") or ()])
    save("look.json", look(files))
    os.environ["SANDGLASS_RUN_DIR"] = told["scratch"]
    os.environ["SANDGLASS_REHEARSAL"] = os.path.join(HOME, "watch.json")  # watch.py, in every Python from here on
    told["watch"]["stacks_at"] = began + 3600 * told["hours"] * 0.85  # between the deadline and its enforcement
    save("watch.json", told["watch"])
    at = told["watch"]["stacks_at"]
    threading.Thread(target=measure, args=(at, max(1.0, 180 * told["hours"])), daemon=True).start()
    return kernel["main"]()


if __name__ == "__main__":
    sys.exit(main())
