"""@@DOC@@"""

# Python 3.8 or later, standard library only. `python this_file.py --show` lists what travels in the payload at the end.

import base64
import bz2
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import time

T0 = time.time()  # the session's clock starts here, unix seconds

CONFIG = json.loads(r'''@@CONFIG@@''')


def open_payload():
    """(tar of the files, bytes of the packed tables): a bzip2 stream and what follows it, as text in base85."""
    try:
        raw = base64.b85decode(PAYLOAD)
    except ValueError:
        raw = b""
    if hashlib.sha256(raw).hexdigest() != PAYLOAD_SHA256:
        sys.exit("The payload in this script is damaged: its SHA-256 is not the recorded one. Nothing was trained. Build and push again.")
    stream = bz2.BZ2Decompressor()
    return tarfile.open(fileobj=io.BytesIO(stream.decompress(raw))), stream.unused_data


def show(names):
    files, _ = open_payload()
    for name in names or files.getnames():
        sys.stdout.buffer.write(files.extractfile(name).read() if names else (name + "\n").encode())


def make_scratch():
    """An empty folder for the project: the commands run in it."""
    scratch = os.environ.get("SANDGLASS_RUN_DIR") or os.environ.get("KG_RUN_DIR") or tempfile.mkdtemp(prefix="sandglass-")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(os.path.join(scratch, "_sandglass"))
    return os.path.abspath(scratch)


def main():
    """Writes the runner's modules into the scratch folder and runs them from there. Returns the exit status."""
    files, tables = open_payload()
    scratch = make_scratch()
    home = os.path.join(scratch, "_sandglass")
    for name in files.getnames():
        if os.path.dirname(name) == "_sandglass" and name.endswith(".py"):
            with open(os.path.join(home, os.path.basename(name)), "wb") as f:
                f.write(files.extractfile(name).read())
    sys.path.insert(0, home)
    import runner
    return runner.main(CONFIG, files, tables, scratch, T0)


PAYLOAD_SHA256 = "@@PAYLOAD_SHA256@@"
PAYLOAD = "@@PAYLOAD@@"

if __name__ == "__main__":
    if sys.argv[1:2] == ["--show"]:
        show(sys.argv[2:])
    else:
        exit_status = main()
        if exit_status:
            sys.exit(exit_status)
