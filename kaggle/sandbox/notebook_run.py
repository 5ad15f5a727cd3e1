"""Runs a notebook's code cells in order, in one namespace, as the sandbox's stand-in for a notebook kernel.

Usage: notebook_run.py notebook.ipynb. Lines that only IPython understands (! and % at the start, ? at the end) are
skipped with a notice on standard error; a cell that starts with %%bash and the like is skipped whole. The first cell that
raises ends the run with exit code 1, as on Kaggle.
"""
import builtins
import json
import linecache
import re
import sys
import traceback
import types

TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")  # cell magics whose body is plain Python
MAGIC = re.compile(r"^(\s*)(?:([A-Za-z_][\w.]*)\s*=\s*)?([!%].*|[^#'\"]*\?{1,2})$")


def plain(source, number):
    """The cell as plain Python: lines that are not, and only those, replaced by ones that do nothing.

    Python itself says where it stumbles, so that a text that merely looks like a command (in a string) stays.
    """
    lines = source.split("\n")
    first = next((i for i, x in enumerate(lines) if x.strip()), 0)
    if lines[first].lstrip().startswith("%%"):
        notice(number, lines[first])
        if lines[first].split()[0] not in TRANSPARENT:
            return ""
        lines[first] = ""
    for _ in range(len(lines)):
        try:
            compile("\n".join(lines), "cell", "exec")
            break
        except SyntaxError as e:
            at = (e.lineno or 1) - 1
        m = MAGIC.match(lines[at]) if at < len(lines) else None
        if not m:
            break  # an error of the cell's own: it shows when it runs
        notice(number, lines[at])
        more = lines[at].rstrip().endswith("\\")
        lines[at] = m.group(1) + (m.group(2) + " = []" if m.group(2) else "pass")
        while more and at + 1 < len(lines):
            at += 1
            more = lines[at].rstrip().endswith("\\")
            lines[at] = ""
    return "\n".join(lines)


def notice(number, line):
    sys.stderr.write("sandbox: cell %d: skipped, not Python: %s\n" % (number, line.strip()))
    sys.stderr.flush()


def main(path):
    with open(path, encoding="utf-8") as f:
        cells = json.load(f).get("cells") or []
    sys.argv = [path]
    builtins.display = show
    # The notebook gets a __main__ of its own; this file's is kept alive, because its functions still run.
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    space = main_module.__dict__
    number = 0
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        number += 1
        source = cell.get("source") or ""
        if isinstance(source, list):
            source = "".join(source)
        name = "<cell %d>" % number
        source = plain(source, number)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        try:
            exec(compile(source, name, "exec"), space)
        except SystemExit:
            raise
        except BaseException:
            kind, value, tb = sys.exc_info()
            sys.stdout.flush()
            traceback.print_exception(kind, value, tb.tb_next if tb else None)
            return 1
    return 0


def show(*values, **_):
    for value in values:
        print(value)


if __name__ == "__main__":
    HELPERS = sys.modules["__main__"]
    sys.exit(main(sys.argv[1]))
