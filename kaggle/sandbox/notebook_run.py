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
    """The cell as plain Python, with what was left out replaced by lines that do nothing."""
    try:
        compile(source, "cell", "exec")
        return source
    except SyntaxError:
        pass
    lines = source.split("\n")
    first = next((i for i, x in enumerate(lines) if x.strip()), 0)
    if lines and lines[first].lstrip().startswith("%%"):
        word = lines[first].split()[0]
        notice(number, lines[first])
        if word not in TRANSPARENT:
            return ""
        lines[first] = ""
    out, continued = [], False
    for line in lines:
        if continued:
            continued = line.rstrip().endswith("\\")
            out.append("")
            continue
        m = MAGIC.match(line)
        if not m:
            out.append(line)
            continue
        notice(number, line)
        out.append(m.group(1) + (m.group(2) + " = []" if m.group(2) else "pass"))
        continued = line.rstrip().endswith("\\")
    return "\n".join(out)


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
