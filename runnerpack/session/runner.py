"""The runner of a training session on Kaggle, built by Sandglass.

The script that Kaggle runs carries this file and its neighbours in its payload, writes them into the scratch folder and
calls main() with its settings. Python 3.8 or later, standard library only. In the order in which things happen:

    preflight  the machine is looked at            tasks      commands are run and watched, until time is up
    splits     the payload is unpacked             jobs       what a job and a task are
    inputs     what Kaggle mounted is linked       processes  a command's group, its log, its end
    resume     earlier sessions are taken over     sampler    utilisation (tpu: the same and more of a TPU)
    close      folds are joined, the output tidied and listed
    tools, record   small things; run.json, manifest.json and telemetry.jsonl

Where things are:
    working folder   /kaggle/working: what Kaggle keeps. artifacts/, subs/, reports/, logs/, run.json, manifest.json
    input folder     /kaggle/input: what Kaggle mounted, read-only
    scratch folder   where the project is unpacked and the commands run; artifacts/, subs/ and reports/ in it are
                     links into the working folder, so results are saved the moment they are written

Lines that start with "::sandglass" are for the app that watches this log; the same lines are in telemetry.jsonl.
"""

import os
import signal
import time
import traceback

from tools import Clock, LINKED, Stop, link, setting
from record import Console, Phase, Record
from preflight import preflight
from splits import unpack
from inputs import bring_inputs
from jobs import Job, Task
from sampler import Sampler
from tasks import Session, install
from close import assemble, close


def link_results(working, scratch):
    """Makes artifacts/, subs/ and reports/ of the scratch folder links into the working folder."""
    for name in LINKED:
        os.makedirs(os.path.join(working, name), exist_ok=True)
        link(os.path.join(working, name), os.path.join(scratch, name))


def handle_signals(session):
    """SIGTERM and SIGINT end the session in good order."""
    def handler(number, frame):
        session.queue.put(("signal", number))  # SimpleQueue: safe in a handler
        session.stopping = session.stopping or "signal %d" % number
    try:
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), handler)
    except ValueError:
        pass  # not the main thread: somebody imported this file


def steps(config, files, tables, session, record, root):
    """Preflight to post commands. Raises Stop when there is nothing to go on with."""
    clock, scratch = session.clock, session.scratch
    with Phase(record, "start", build=config.get("build_id", ""), deadline=round(clock.graceful, 3)):
        with Phase(record, "preflight", told=False):
            preflight(config, record)
        unpack(config, files, tables, scratch)
        record.jobs = [Job(spec) for spec in config["jobs"]]
        tasks = record.tasks = [Task(j, k) for j in record.jobs for k in (j.folds or [None])]
    record.write()
    with Phase(record, "inputs"):
        found = bring_inputs(config, record, root, scratch)
        if config.get("resume"):
            import resume
            resume.resume(config, record, found, tasks, session.artifacts, os.path.join(scratch, "_sandglass"))
        for task in tasks:
            if task.state != "waiting":
                task.read_results(os.path.join(session.artifacts, task.job.name))
                session.tell(task)
    session.base_env(found)
    if config.get("pip"):
        with Phase(record, "install"):
            install(config, record, found, session)
    record.write()
    waiting = [t for t in tasks if t.state == "waiting"]
    session.tasks_began = time.time()
    session.sampler = Sampler(record, clock) if waiting else None
    with Phase(record, "tasks", build=config.get("build_id", ""), deadline=round(clock.graceful, 3),
               workers=len(session.workers(len(waiting))), tasks=len(waiting), hardware=record.data["hardware"]):
        session.run(tasks)
    with Phase(record, "assemble"):
        assemble(session, tasks)


def main(config, files, tables, scratch, t0):
    """Runs the session. Returns the exit status: 0 when anything worth collecting was produced.

    config: the script's settings; files and tables: its payload (see unpack); scratch: a folder with
    nothing but the runner; t0: when the script started, unix seconds.
    """
    working = os.path.abspath(setting("KAGGLE_WORKING") or "/kaggle/working")
    root = os.path.abspath(setting("KAGGLE_INPUT") or "/kaggle/input")
    os.makedirs(working, exist_ok=True)
    console, clock = Console(), Clock(float(config["hours"]), t0)
    record = Record(config, working, clock, console)
    link_results(working, scratch)
    session = Session(config, record, clock, console, scratch, working)
    handle_signals(session)
    try:
        steps(config, files, tables, session, record, root)
    except Stop as stop:
        record.finding(stop.code, "bad", stop.text)
        console.lines([stop.text])
    except Exception:
        record.finding("runner-error", "bad", "The runner itself failed: " + traceback.format_exc()[-1500:])
    finally:
        for process, task in list(session.running.items()):
            process.stop(0)
            task.state, task.error, task.seconds = "killed", task.error or "The session ended.", time.time() - process.started
            process.finish()
        session.running.clear()
    if session.stopping:
        record.finding("stopped", "warn", "The session was told to stop (%s) and stopped its tasks." % session.stopping)
    return close(session, record)
