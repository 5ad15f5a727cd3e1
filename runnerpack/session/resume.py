"""Step 4: what earlier sessions finished is linked, what they began is continued. Travels with --resume-from only."""

import os
import re
import shutil
import zipfile

from tools import HALF_WRITTEN, WEIGHTS, fold_of, link, read_json, status_name


class Earlier:
    """Results of earlier kernels, by job and fold."""

    # A fold that is finished in any of them is finished; of two that are not, the later one knows more.
    RANK = {"done": 3, "pruned": 2, "timeout": 1, "begun": 1}

    def __init__(self, sources, work):
        self.sources, self.work = sources, work

    def open(self, job):
        """[(artifacts/<job> folder, run.json rows of the job)], archives unpacked beside the scratch folder."""
        out = []
        for n, source in enumerate(self.sources):
            folder = os.path.join(source, "artifacts", job.name)
            run = read_json(os.path.join(source, "run.json")) or {}
            rows = {t.get("fold"): t for t in run.get("tasks") or () if isinstance(t, dict) and t.get("job") == job.name}
            if not os.path.isdir(folder):
                if rows:
                    out.append((None, rows))
                continue
            archives = [f for f in sorted(os.listdir(folder)) if re.match(r"fold(\d+|s)\.zip$", f)]
            if archives:
                opened = os.path.join(self.work, "resume", str(n), job.name)
                os.makedirs(opened, exist_ok=True)
                for name in archives:
                    with zipfile.ZipFile(os.path.join(folder, name)) as z:
                        z.extractall(opened)
                for name in os.listdir(folder):
                    if name not in archives and not os.path.lexists(os.path.join(opened, name)):
                        link(os.path.join(folder, name), os.path.join(opened, name))
                folder = opened
            out.append((folder, rows))
        return out

    @staticmethod
    def state(folder, rows, fold):
        """done, timeout (to be continued), pruned, begun (has a checkpoint, say after a hard kill), failed or ""."""
        status = read_json(os.path.join(folder, status_name(fold))) if folder else None
        if status and status.get("status"):
            return status["status"] if status["status"] in Earlier.RANK else "failed"
        row = rows.get(fold) or {}
        state = "done" if row.get("state") == "skipped" else row.get("state", "")
        if state in ("done", "pruned"):
            return state
        # Predictions without a status are a script's that writes none. But of a task that was cut off while it ran they
        # may be half a file, and of one that stopped in time they are not the fold's last.
        if state not in ("running", "timeout") and folder and os.path.exists(os.path.join(folder, "fold%d_oof.npy" % fold)):
            return "done"
        names = [n for n in os.listdir(folder) if not HALF_WRITTEN.search(n)] if folder else ()
        if state != "failed" and any(re.match(r"fold_?%d_resume" % fold, n) for n in names):
            return "begun"
        return "failed" if state else ""


def resume(config, record, found, tasks, artifacts, work):
    """Takes over what the resumed kernels left, and marks the tasks that need not run again."""
    sources = []
    for ref in config.get("resume") or ():
        source = found.get(("kernel", ref))
        if source is None or not os.path.isdir(os.path.join(source, "artifacts")):
            record.finding("resume-missing", "warn", "The kernel to resume from, %s, brought no artifacts: its folds are trained again." % ref)
        else:
            sources.append(source)
    earlier = Earlier(sources, work)
    for job in record.jobs if sources else ():
        opened = earlier.open(job)
        for task in job.tasks(tasks):
            take_over(earlier, opened, task, os.path.join(artifacts, job.name))
        for folder, _ in reversed(opened):
            for name in sorted(os.listdir(folder)) if folder and job.by_fold else ():
                if fold_of(name) is None and not HALF_WRITTEN.search(name) and os.path.exists(os.path.join(folder, name)):  # of the job, not of a fold; assembly may write it anew
                    bring(os.path.join(folder, name), os.path.join(artifacts, job.name, name), name.endswith(WEIGHTS))


def take_over(earlier, opened, task, dest):
    if task.fold is None:
        done = [o for o in opened if (o[1].get(None) or {}).get("state") in ("done", "skipped")]
        begun = [o for o in opened if (o[1].get(None) or {}).get("state") != "failed"]
        for folder, _ in reversed(done or begun):  # a whole-machine command may write over anything: copies, unless it is done
            for name in sorted(os.listdir(folder)) if folder else ():
                if not HALF_WRITTEN.search(name) and os.path.exists(os.path.join(folder, name)):
                    bring(os.path.join(folder, name), os.path.join(dest, name), bool(done))
        if done:
            task.inherit("skipped", done[-1][1].get(None))
        return
    ranks = [Earlier.RANK.get(Earlier.state(f, r, task.fold), 0) for f, r in opened]
    best = max(ranks, default=0)
    if not best:
        return  # unknown or failed: from scratch
    finished = best > Earlier.RANK["begun"]
    told = {}
    for rank, (folder, rows) in reversed(list(zip(ranks, opened))):
        if rank != best:
            continue
        row, names = rows.get(task.fold) or {}, fold_files(folder, task.fold)
        told = told or row
        for name in names:
            if not (finished and re.match(r"fold_?\d+_resume", name)):
                # A fold that goes on writes to its files, and a mounted one is read-only: those are copied.
                bring(os.path.join(folder, name), os.path.join(dest, name), finished)
        # A session that only took the fold over has not its weights, and has nothing of it if it was killed: look further.
        if names and row.get("state") != "skipped":
            break
    if finished:
        task.inherit("skipped" if best == Earlier.RANK["done"] else "pruned", told)
    else:
        task.continued = True


def fold_files(folder, fold):
    """Names of a fold's files in a folder, without half-written ones and links that lead nowhere."""
    return [n for n in (sorted(os.listdir(folder)) if folder else ()) if fold_of(n) == fold and not HALF_WRITTEN.search(n)
            and os.path.exists(os.path.join(folder, n))]


def bring(source, dest, as_link):
    if os.path.lexists(dest):
        return
    source = os.path.realpath(source)
    if as_link:
        link(source, dest)
    elif os.path.isdir(source):
        shutil.copytree(source, dest)
    else:
        os.makedirs(os.path.dirname(dest), exist_ok=True)
        shutil.copyfile(source, dest)
