"""What every script of this project shares: flags, files, folds, and the budget that ends training in time.

In a session the package sandglass is there and TrainBudget knows the deadline and the baseline. By hand it may be
missing: then a plain stand-in writes the same files and never says stop.
"""

import argparse
import csv
import json
import os
import time

try:
    import numpy as np
except ImportError:
    raise SystemExit("This project needs numpy: pip install numpy (Kaggle's images have it).")

try:
    from sandglass.bench import Bench
    from sandglass.budget import TrainBudget
except ImportError:
    Bench = None

    class TrainBudget:
        """Writes curve and status as sandglass.budget.TrainBudget does; no deadline, no pruning."""

        def __init__(self, out_dir, fold, epochs, greater_is_better=True, start_epoch=None, save_every=20.0):
            self.dir, self.fold, self.epochs, self.greater_is_better, self.save_every = out_dir, fold, epochs, greater_is_better, 60 * save_every
            self.curve, self.began, self.last_save = os.path.join(out_dir, "curve_fold%d.json" % fold), time.time(), time.time()
            self.points = [p for p in (read_json(self.curve) or {}).get("points", []) if p["epoch"] < (start_epoch or 0)]

        def start_epoch(self):
            self.began = time.time()

        def tick(self):
            return time.time() - self.last_save >= self.save_every

        def saved(self):
            self.last_save = time.time()

        def end_epoch(self, epoch, score):
            self.points = [p for p in self.points if p["epoch"] < epoch] + [{"epoch": epoch, "score": float(score), "seconds": round(time.time() - self.began, 3)}]
            write_json(self.curve, {"fold": self.fold, "epochs": self.epochs, "greater_is_better": self.greater_is_better, "points": self.points})
            return "continue"

        def write_status(self, status, **info):
            scores = [p["score"] for p in self.points]
            best = (max if self.greater_is_better else min)(scores) if scores else None
            write_json(os.path.join(self.dir, "fold%d_status.json" % self.fold),
                       dict({"fold": self.fold, "status": status, "best": best, "epochs_run": len(scores)}, **info))


# -- files: whole or not at all, because a session may be killed at any moment

def replace(path, fill, mode="wb"):
    """Calls fill(file) and puts the file in its place when that ends well."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    tmp = "%s.tmp%d" % (path, os.getpid())
    try:
        with open(tmp, mode, **({} if "b" in mode else {"newline": "\n", "encoding": "utf-8"})) as f:
            fill(f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(tmp, path)
    finally:
        if os.path.exists(tmp):
            os.unlink(tmp)


def write_json(path, value):
    replace(path, lambda f: f.write(json.dumps(value, indent=1, allow_nan=False) + "\n"), "w")


def read_json(path):
    """The value, or None when the file is missing or broken."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def save_array(path, array):
    replace(path, lambda f: np.save(f, array))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write_csv(path, header, rows):
    def fill(f):
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)
    replace(path, fill, "w")


# -- folds: data/folds.csv says which fold an id is validated in; below zero it is trained on and never validated

def read_train(path="data/train.csv"):
    """(rows of train.csv, fold of each as an array)."""
    if not os.path.exists(path) or not os.path.exists("data/folds.csv"):
        raise SystemExit("There is no %s with data/folds.csv beside it. For the synthetic example: python src/make_data.py" % path)
    rows = read_csv(path)
    folds = {r["id"]: int(r["fold"]) for r in read_csv("data/folds.csv")}
    missing = [r["id"] for r in rows if r["id"] not in folds]
    if missing:
        raise SystemExit("data/folds.csv has no fold for %d ids of %s, the first is %s." % (len(missing), path, missing[0]))
    return rows, np.array([folds[r["id"]] for r in rows], dtype=np.int64)


def make_folds(ids, labels, count=5, seed=0):
    """Writes data/folds.csv: every label evenly over the folds, in an order that depends on the seed alone."""
    rng, fold = np.random.RandomState(seed), {}
    for label in sorted(set(labels)):
        mine = [i for i, x in zip(ids, labels) if x == label]
        for n, at in enumerate(rng.permutation(len(mine))):
            fold[mine[at]] = n % count
    write_csv("data/folds.csv", ["id", "fold"], [(i, fold[i]) for i in ids])


# -- scores

def auc(target, score):
    """Area under the ROC curve; 0.5 is guessing. Ties count half."""
    target, score = np.asarray(target), np.asarray(score, dtype=np.float64)
    positive = int(target.sum())
    if positive in (0, len(target)):
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse.reshape(-1)]
    return float((ranks[target == 1].sum() - positive * (positive + 1) / 2.0) / (positive * (len(target) - positive)))


def accuracy(target, probabilities):
    """Share of rows whose most probable class is the right one."""
    return float((np.argmax(probabilities, axis=1) == np.asarray(target)).mean())


# -- a script's frame

def arguments(about, epochs, more=None):
    """The flags of the contract, and the script's own by more(parser)."""
    p = argparse.ArgumentParser(description=about)
    p.add_argument("--name", default="idea", help="results go to artifacts/NAME")
    p.add_argument("--folds", type=int, nargs="+", default=[], help="train these folds")
    p.add_argument("--assemble", action="store_true", help="no training: join the finished folds into score.json and subs/NAME.csv")
    p.add_argument("--smoke", action="store_true", help="one fold, one epoch, two batches; the result is marked and never assembled")
    p.add_argument("--bench", action="store_true", help="some steps of the first fold: waiting for data or computing? To reports/bench.jsonl")
    p.add_argument("--epochs", type=int, default=epochs)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save-every", type=float, default=20.0, help="minutes between two checkpoints")
    if more:
        more(p)
    args = p.parse_args()
    args.out = os.path.join("artifacts", args.name)
    if args.smoke:
        args.epochs, args.folds = 1, args.folds[:1] or [0]
    if not (args.folds or args.assemble or args.bench):
        p.error("nothing to do: give --folds, --assemble or --bench")
    return args


def run(args, train_fold, assemble, bench):
    """train_fold(args, fold) returns "done", "timeout" or "pruned". A timeout or a prune is no error."""
    os.makedirs(args.out, exist_ok=True)
    if args.bench:
        if Bench is None:
            raise SystemExit("--bench needs the package sandglass: it is in every session, or put its folder into PYTHONPATH.")
        return bench(args, (args.folds or [0])[0])
    states = []
    for fold in args.folds:
        if args.assemble:
            break
        states.append(train_fold(args, fold))
        if states[-1] != "done":
            break  # out of time, or not worth it: the other folds of this process would fare no better
    every = args.folds and set(args.folds) >= {int(k) for k in read_train()[1] if k >= 0}
    whole = every and states and set(states) == {"done"} and not args.smoke and not os.environ.get("KG_DEFER_ASSEMBLE")
    if args.assemble or whole:
        assemble(args)


def save_fold(args, fold, budget, index, oof, test=None):
    """The fold's predictions, then its status, then the checkpoint goes: in this order a kill loses nothing."""
    save_array("%s/fold%d_oof.npy" % (args.out, fold), oof)
    save_array("%s/fold%d_idx.npy" % (args.out, fold), np.asarray(index, dtype=np.int64))
    if test is not None:
        save_array("%s/fold%d_test.npy" % (args.out, fold), test)
    budget.write_status("done", **({"smoke": True} if args.smoke else {}))
    for name in os.listdir(args.out):
        if name.startswith("fold%d_resume." % fold):
            os.unlink(os.path.join(args.out, name))


def join_folds(args, target, folds, metric, score):
    """Writes score.json from the finished folds. A screen trains one or two of them: then the score is theirs, and it is
    said. Returns the mean of the test predictions, or None."""
    finished, missing, tests, indexes, oofs, by_fold = [], [], [], [], [], {}
    for k in sorted({int(f) for f in folds if f >= 0}):
        status = read_json("%s/fold%d_status.json" % (args.out, k)) or {}
        if status.get("status") != "done" or status.get("smoke"):
            missing.append("%d (%s)" % (k, "a smoke test" if status.get("smoke") else status.get("status", "not trained")))
            continue
        finished.append(k)
        indexes.append(np.load("%s/fold%d_idx.npy" % (args.out, k)))
        oofs.append(np.load("%s/fold%d_oof.npy" % (args.out, k)))
        by_fold[str(k)] = round(score(target[indexes[-1]], oofs[-1]), 6)
        path = "%s/fold%d_test.npy" % (args.out, k)
        if os.path.exists(path):
            tests.append(np.load(path))
    if not finished:
        raise SystemExit("No fold is finished, so there is nothing to join: %s." % ", ".join(missing))
    index = np.concatenate(indexes)
    total = round(score(target[index], np.concatenate(oofs)), 6)
    write_json("%s/score.json" % args.out, {"score": total, "metric": metric, "greater_is_better": True, "fold_scores": by_fold})
    print("%s %.5f over %d rows; folds %s" % (metric, total, len(index), by_fold), flush=True)
    if missing:
        print("NOT all folds: without %s" % ", ".join(missing), flush=True)
    return np.mean(tests, axis=0) if tests else None
