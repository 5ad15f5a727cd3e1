"""Python processes that begin with their big imports done.

The templates' tests start some hundred processes, and importing PyTorch takes each of them seconds. A server imports the
modules once and forks for every call; the script then runs as `python script.py ...` would run it: a group of its own,
its own folder, environment, arguments, output and exit status.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile

SERVER = r'''
import importlib, json, os, runpy, sys, traceback
for name in sys.argv[1:]:
    importlib.import_module(name)

def run(ask):
    os.setsid()
    out, null = os.open(ask["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), os.open(os.devnull, os.O_RDONLY)
    os.dup2(out, 1), os.dup2(out, 2), os.dup2(null, 0)
    os.chdir(ask["cwd"])
    os.environ.clear()
    os.environ.update(ask["env"])
    sys.argv = ask["argv"]
    sys.dont_write_bytecode = True
    sys.path[:1] = [os.path.dirname(os.path.abspath(sys.argv[0]))] + [p for p in ask["env"].get("PYTHONPATH", "").split(os.pathsep) if p]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as e:
        if isinstance(e.code, str):
            print(e.code, file=sys.stderr)
        return e.code if isinstance(e.code, int) else 1 if e.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        code = run(json.loads(line))
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    print(pid, flush=True)
    status = os.waitpid(pid, 0)[1]
    print(os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status), flush=True)
'''


class Warm:
    """A server with these modules imported. One call at a time."""

    def __init__(self, modules):
        env = dict(os.environ, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
        self.server = subprocess.Popen([sys.executable, "-c", SERVER] + list(modules), env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""

    def line(self, timeout):
        """The server's next line; None when it does not come in time."""
        while b"\n" not in self.rest:
            if not select.select([self.server.stdout], [], [], timeout)[0]:
                return None
            data = os.read(self.server.stdout.fileno(), 4096)
            if not data:
                raise RuntimeError("the server of warm processes has died")
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return int(line)

    def run(self, argv, cwd, env, timeout, kill=False):
        """(exit status, output). After timeout seconds the group is killed: with kill the status is then None, without it
        that is an error."""
        with tempfile.NamedTemporaryFile() as out:
            ask = {"argv": argv, "cwd": cwd, "env": env, "out": out.name}
            self.server.stdin.write(json.dumps(ask).encode() + b"\n")
            self.server.stdin.flush()
            pid = self.line(120)
            code = self.line(timeout)
            if code is None:
                for kill in (os.killpg, os.kill):  # it may not yet have made its group, or have ended this very moment
                    with contextlib.suppress(ProcessLookupError):
                        kill(pid, signal.SIGKILL)
                        break
                self.line(120)
                if not kill:
                    raise RuntimeError("%s took more than %s s" % (argv, timeout))
            with open(out.name, "rb") as f:
                return code, f.read().decode("utf-8", "replace")

    def close(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait(30)
