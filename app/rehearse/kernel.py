"""Runs a kernel's script on this computer, for a rehearsal: the very file that would be pushed, with settings of its own.

rehearsal.json beside the session's folders says which script, and what is different: the cap, --smoke in the commands, no
pip. Nothing in the script changes. What the rehearsal wants to know besides the session's own record goes to shipped.json
(the files that the script carries), look.json (what can be seen in them) and usage.json (CPU seconds of all that it started).
"""
import ast
import importlib.util
import json
import os
import re
import sys
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
    try:
        return kernel["main"]()
    finally:
        try:
            import resource
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            save("usage.json", {"cpu_s": used.ru_utime + used.ru_stime})
        except ImportError:
            pass  # Windows


if __name__ == "__main__":
    sys.exit(main())
