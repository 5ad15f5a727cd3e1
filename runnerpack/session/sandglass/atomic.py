"""Writing files so that a reader, and a kill at any moment, finds the old content or the new one.

A session is killed at its cap without a warning. A checkpoint half written over the last good one loses both; these
helpers write beside the file and rename.
"""

import contextlib
import json
import os


@contextlib.contextmanager
def replacing(path, mode="wb", **options):
    """An open file that becomes `path` when the block ends well, and nothing when it does not.

        with replacing("artifacts/idea/fold0_resume.pt") as f:
            torch.save(state, f)

    The folder is made if it is missing. options go to open().
    """
    path = os.fspath(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    tmp = "%s.tmp%d" % (path, os.getpid())
    try:
        with open(tmp, mode, **options) as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        os.replace(tmp, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(tmp)


def write_bytes(path, data):
    """Writes data to path, whole or not at all."""
    with replacing(path) as f:
        f.write(data)


def write_text(path, text):
    """Writes text to path as UTF-8 with line feeds, whole or not at all."""
    with replacing(path, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


def write_json(path, value):
    """Writes value to path as JSON, whole or not at all. Raises ValueError for NaN, which JSON does not have."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path, default=None):
    """The JSON value in path, or default when the file is missing or broken."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return default
