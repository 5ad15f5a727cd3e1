"""Steps 7 and 8: finished jobs are joined, and what Kaggle keeps is complete, small in number, and says the truth."""

import collections
import os
import re
import shutil
import time
import zipfile

from tools import HALF_WRITTEN, LINKED, WEIGHTS, file_part, fold_of, read_json

MAX_FILES = 480            # Kaggle keeps about 500 output files


def settle_links(record, artifacts, tasks):
    """Before the end: results of earlier sessions become files of this output, their weights are left where they are."""
    left = 0
    for folder, dirs, names in os.walk(artifacts):
        for name in sorted(dirs + names):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                continue
            source = os.path.realpath(path)
            os.unlink(path)
            if name.endswith(WEIGHTS) or os.path.isdir(source) or not os.path.exists(source):
                left += 1
            else:
                shutil.copyfile(source, path)
    if left:
        record.note("%d weight files of earlier sessions stay in the kernels they came from." % left)


def assemble(session, tasks):
    record, clock = session.record, session.clock
    env = session.threads(dict(session.env), 1)
    env.pop("KG_DEADLINE", None)  # joining is short and must not be cut off by the folds' deadline
    for job in record.jobs:
        if not job.complete(tasks):
            continue
        if job.assemble and not session.stopping:
            if time.time() >= clock.end:
                job.assembled = False
                record.finding("assemble-failed", "warn", "No time was left to assemble %s." % job.name)
                continue
            status, tail = session.command(job.assemble, job.name + "/assemble", file_part(job.name) + "_assemble.log", clock.end, env)
            job.assembled = status == 0
            if status != 0:
                record.finding("assemble-failed", "bad", "Assembling %s failed: %s" % (job.name, "\n".join(tail[-12:]) or "exit status %s" % status))
        job.score = read_json(os.path.join(session.artifacts, job.name, "score.json")) or {}
        if not isinstance(job.score.get("score"), (int, float)):
            job.score.pop("score", None)
        record.write()
    for n, command in enumerate(session.config.get("post") or ()):
        if session.stopping or time.time() >= clock.hard:
            record.finding("post-failed", "warn", "No time was left for: %s" % command)
            continue
        status, tail = session.command(command, "post", "post%d.log" % (n + 1), clock.end, env)
        if status != 0:
            record.finding("post-failed", "warn", "%s failed: %s" % (command, "\n".join(tail[-12:]) or "exit status %s" % status))


def remove_half_written(working):
    """Whatever a killed process was writing: it would count, and take room, in what Kaggle keeps."""
    for root in LINKED:  # not the folder itself: the manifest may just be written there
        for folder, _, names in os.walk(os.path.join(working, root)):
            for name in names:
                if HALF_WRITTEN.search(name):
                    try:
                        os.unlink(os.path.join(folder, name))
                    except OSError:
                        pass


def remove_checkpoints(artifacts, tasks):
    """fold<k>_resume.* of finished folds is of no use any more."""
    for task in tasks:
        folder = os.path.join(artifacts, task.job.name)
        if task.state not in ("done", "skipped", "pruned") or not os.path.isdir(folder):
            continue
        for name in os.listdir(folder):
            if re.match(r"fold_?\d+_resume", name) and task.fold in (None, fold_of(name)):
                try:
                    os.unlink(os.path.join(folder, name))
                except OSError:
                    pass


def pack_files(record, working, tasks):
    """More than 480 files: each fold becomes one archive, then logs, then whatever a folder holds most of.

    Curves and status files of folds stay as they are for as long as that is enough.
    """
    def count():
        return sum(1 for _ in record.manifest.files()) + (0 if os.path.exists(os.path.join(working, "manifest.json")) else 1)

    before = count()
    if before <= MAX_FILES:
        return
    artifacts = os.path.join(working, "artifacts")
    jobs = sorted(n for n in (os.listdir(artifacts) if os.path.isdir(artifacts) else ()) if os.path.isdir(os.path.join(artifacts, n)))
    for keep in (r"curve_fold\d+\.json$|fold\d+_status\.json$|.*\.zip$", r".*\.zip$"):
        for job in jobs:
            folder = os.path.join(artifacts, job)
            by_fold = collections.defaultdict(list)
            for name in sorted(os.listdir(folder)):
                if fold_of(name) is not None and not re.match(keep, name):
                    by_fold[fold_of(name)].append(name)
            if keep.startswith("curve"):
                for k, names in sorted(by_fold.items()):
                    if len(names) > 1:
                        pack(folder, names, "fold%d.zip" % k)
            elif count() > MAX_FILES:
                pack(folder, [n for names in by_fold.values() for n in names], "folds.zip")
        logs = os.path.join(working, "logs")
        if count() > MAX_FILES and len(os.listdir(logs)) > 1:
            pack(logs, sorted(n for n in os.listdir(logs) if n.endswith(".log")), "logs.zip")
    while count() > MAX_FILES:  # not folds: pack the fullest folder whole
        full = collections.Counter(os.path.dirname(path) for name, path in record.manifest.files() if "/" in name)
        folder, n = full.most_common(1)[0] if full else (None, 0)
        if n < 2:
            break
        pack(folder, sorted(e for e in os.listdir(folder) if os.path.isfile(os.path.join(folder, e)) and e != "files.zip"), "files.zip")
    record.finding("too-many-files", "info", "%d output files were packed into %d, because Kaggle keeps about 500." % (before, count()))


def pack(folder, names, archive):
    """Moves files (and whole sub-folders) of a folder into an archive beside them."""
    path = os.path.join(folder, archive)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED, allowZip64=True) as z:
        for name in names:
            full = os.path.join(folder, name)
            for base, _, files in os.walk(full) if os.path.isdir(full) else [(folder, [], [name])]:
                for f in files:
                    z.write(os.path.join(base, f), os.path.relpath(os.path.join(base, f), folder))
    for name in names:
        full = os.path.join(folder, name)
        shutil.rmtree(full) if os.path.isdir(full) else os.unlink(full)


def outcome(record, artifacts):
    """complete: every job is; partial: something is worth collecting; failed: nothing is."""
    if record.jobs and all(j.complete(record.tasks) and j.assembled is not False for j in record.jobs):
        return "complete"
    for task in record.tasks:
        if task.state in ("done", "skipped", "timeout", "pruned"):
            return "partial"
        folder = os.path.join(artifacts, task.job.name)
        if task.state == "killed" and os.path.isdir(folder) and any(
                task.fold is None or re.match(r"fold_?\d+_resume", n) and task.fold == fold_of(n) for n in os.listdir(folder)):
            return "partial"  # it can be continued from its last checkpoint; what a whole-machine command left is its own affair
    return "failed"


def close(session, record):
    """The last step, also after a failure. Returns the exit status."""
    began = time.time()
    record.say("session", phase="close")
    if session.sampler:
        session.sampler.flush()
        session.sampler.close()
        record.data["util"] = session.sampler.summary()
    for tidy, arguments in ((remove_checkpoints, (session.artifacts, record.tasks)), (remove_half_written, (session.working,)),
                            (settle_links, (record, session.artifacts, record.tasks)), (rescue, (session.scratch, session.working)),
                            (pack_files, (record, session.working, record.tasks))):
        try:
            tidy(*arguments)
        except (OSError, shutil.Error, zipfile.BadZipFile) as e:  # a full disk, say: what was trained is there all the same
            record.finding("close-failed", "bad", "%s failed at the end: %s" % (tidy.__name__, e))
    record.data["outcome"] = outcome(record, session.artifacts)
    status = 1 if record.data["outcome"] == "failed" else 0
    record.time("close", time.time() - began)
    record.time("total", time.time() - record.t0)
    for finding in record.data["findings"]:
        record.console.lines(["%s: %s" % (finding["level"], finding["text"])] if finding["level"] in ("warn", "bad") else [])
    record.say("end", outcome=record.data["outcome"], exit=status)
    record.telemetry.close()
    record.write()
    record.manifest.write()
    record.console.lines(["KG_RUN_STATUS %s: %s" % (j.name, "complete" if j.complete(record.tasks) else record.data["outcome"]
                                                    if record.data["outcome"] == "failed" else "partial") for j in record.jobs])
    return status


def rescue(scratch, working):
    """Results written beside artifacts/: a submission file, and the linked folders where no link could be made."""
    path = os.path.join(scratch, "submission.csv")
    if os.path.isfile(path) and not os.path.islink(path) and os.path.realpath(scratch) != os.path.realpath(working):
        shutil.copyfile(path, os.path.join(working, "submission.csv"))
    for name in LINKED:
        here, there = os.path.join(scratch, name), os.path.join(working, name)
        if os.path.isdir(here) and os.path.isdir(there) and not os.path.samefile(here, there):
            for base, _, files in os.walk(here):
                for f in files:
                    dest = os.path.join(there, os.path.relpath(os.path.join(base, f), here))
                    os.makedirs(os.path.dirname(dest), exist_ok=True)
                    shutil.copyfile(os.path.join(base, f), dest)
