"""Watches what a rehearsed command opens, writes and imports, and keeps it inside the session (site calls this file).

Kaggle has none of this computer's folders, and its inputs are read-only. So a read from the project or the person's home is
answered as Kaggle would (there is no such file), and a write anywhere but into the session or the temporary folder is
refused. Each is noted in seen.jsonl with the line of code that asked for it. What is not Python's own (a library's C code)
is not seen here.
"""
import os
import sys


def install():
    place = os.environ.get("SANDGLASS_REHEARSAL")
    if not place or not hasattr(sys, "addaudithook"):
        return
    import errno
    import json
    try:
        with open(place, encoding="utf-8") as f:
            told = json.load(f)
        notes = os.open(told["notes"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except (OSError, ValueError, KeyError):
        return
    if told.get("tpu"):  # there is none here: the same code on the CPU
        for name, want, other in (("PJRT_DEVICE", "TPU", "CPU"), ("JAX_PLATFORMS", "tpu", "cpu")):
            if os.environ.get(name) == want:
                os.environ[name] = other

    fold, sep = os.path.normcase, os.sep

    def folders(names):
        return tuple(fold(n.rstrip(sep) + sep) for n in names if n.rstrip(sep))

    def both(names):
        return folders(list(names) + [os.path.realpath(n) for n in names])

    session, inputs, project = both([told["session"]]), both(told["inputs"]), both([told["project"]])
    hidden = both([told["project"]] + ([told["home"]] if told["home"] else []))
    scratch = fold(os.path.realpath(told["scratch"]))
    ours = folders([os.path.join(told["scratch"], n) for n in ("sandglass", "kgkit", "_sandglass")])
    free = both([told["temp"], "/tmp", "/var/tmp", "/dev", "/proc", "/sys"]) if sep == "/" else both([told["temp"]])
    python = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.path.realpath(sys.executable))] + [p for p in sys.path if os.path.isabs(p)]
    library = both(python)
    changes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    seen = set()

    def asker():
        """The innermost line of the project's own code that is under way, "src/train.py:12", or "" when there is none."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if not name.startswith("<"):
                name = fold(os.path.realpath(name) if os.path.isabs(name) else os.path.join(scratch, name))
                if name.startswith(scratch + sep) and not name.startswith(ours):
                    return "%s:%d" % (name[len(scratch) + 1:].replace(sep, "/"), frame.f_lineno)
            frame = frame.f_back
        return ""

    def note(kind, what, by):
        key = kind, what, by
        if key in seen or len(seen) > 500:
            return
        seen.add(key)
        try:
            os.write(notes, (json.dumps({"kind": kind, "what": what, "by": by}) + "\n").encode("ascii"))
        except OSError:
            pass  # somebody closed it

    def text(path):
        if isinstance(path, (bytes, str, os.PathLike)):
            return os.path.abspath(os.fsdecode(path))
        return None  # an open file's number

    def write(path):
        full = text(path)
        if full is None:
            return
        real = fold(os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full)))
        if os.path.islink(full):
            real = fold(os.path.realpath(full))
        if real.startswith(session):
            return
        for kind, roots, code in (("write-input", inputs, errno.EROFS), ("write-project", project, errno.EACCES)):
            if (real + sep).startswith(roots):
                note(kind, full, asker())
                raise OSError(code, os.strerror(code), full)
        if real.startswith(free):
            return
        note("write-outside", full, asker())
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), full)

    def read(path):
        full = text(path)
        if full is None:
            return
        plain = fold(full)
        if plain.startswith(session + inputs + library) or not plain.startswith(hidden) or not os.path.lexists(full):
            return  # a link in the session, followed to its end, is an input too
        note("read-outside", full, asker())
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), full)

    def hook(event, args):
        if event == "open":
            if args[2] is not None and isinstance(args[2], int) and args[2] & changes:
                write(args[0])
            else:
                read(args[0])
        elif event in ("os.remove", "os.rmdir", "os.truncate"):
            write(args[0])
        elif event == "os.mkdir":
            if not isinstance(args[0], int) and not os.path.isdir(args[0]):
                write(args[0])
        elif event == "sqlite3.connect":
            if args[0] != ":memory:":
                write(args[0])
        elif event in ("os.link", "os.symlink"):
            write(args[1])
        elif event == "os.rename":
            write(args[0])
            write(args[1])
        elif event in ("os.listdir", "os.scandir") and args and args[0] is not None:
            read(args[0])

    class Missing:
        """Last in sys.meta_path: asked only for what no other finder has."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            frame = sys._getframe(1)
            while frame is not None and (frame.f_code.co_filename.startswith("<") or "importlib" in frame.f_code.co_filename):
                frame = frame.f_back
            if frame is not None and "." not in name:
                file = fold(os.path.realpath(frame.f_code.co_filename))
                if file.startswith(scratch + sep) and not file.startswith(ours):
                    note("import", name, "%s:%d" % (file[len(scratch) + 1:].replace(sep, "/"), frame.f_lineno))
            return None

    sys.meta_path.append(Missing)
    if os.environ.get("SANDGLASS_TASK") and told.get("stacks_at"):
        import faulthandler
        import time
        left = told["stacks_at"] - time.time()
        if left > 0:
            try:
                stacks = open(os.path.join(told["stacks"], "%d.txt" % os.getpid()), "w")
                faulthandler.dump_traceback_later(left, file=stacks)
                install.keep = stacks  # the watchdog writes to its descriptor
            except (OSError, RuntimeError):
                pass
    sys.addaudithook(hook)


install()
