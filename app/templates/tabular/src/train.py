"""Two classes from a table of numbers: gradient boosting by scikit-learn, a few rounds an epoch.

    python src/train.py --name idea --folds 0          train fold 0 of data/folds.csv
    python src/train.py --name idea --folds 0 --smoke  one epoch of two rounds, to see that everything is there
    python src/train.py --name idea --assemble         join the folds: artifacts/idea/score.json, subs/idea.csv
    python src/train.py --name idea --bench            reading the table against training on it

Without scikit-learn a logistic regression in numpy takes its place, and says so: weaker, but it runs.
"""

import os
import pickle
import time

from common import TrainBudget, arguments, auc, join_folds, np, read_csv, read_train, replace, run, save_fold, write_csv

try:
    from sklearn.ensemble import HistGradientBoostingClassifier
except ImportError:
    HistGradientBoostingClassifier = None


def numbers(rows, columns):
    """An array of float64, NaN where a cell is empty."""
    return np.array([[float(r[c]) if r[c] not in ("", "NA", "nan") else np.nan for c in columns] for r in rows], dtype=np.float64)


def read_table():
    rows, folds = read_train()
    columns = [c for c in rows[0] if c not in ("id", "target")]
    return numbers(rows, columns), np.array([int(r["target"]) for r in rows]), folds, columns


class Boosting:
    """Histogram gradient boosting that grows by some rounds an epoch."""

    def __init__(self, args):
        self.rounds = 2 if args.smoke else args.rounds
        self.model = HistGradientBoostingClassifier(
            learning_rate=args.rate, max_leaf_nodes=args.leaves, l2_regularization=1.0, max_iter=self.rounds,
            warm_start=True, early_stopping=False, random_state=args.seed)

    def epoch(self, x, y, number):
        self.model.set_params(max_iter=self.rounds * (number + 1))
        self.model.fit(x, y)

    def predict(self, x):
        return self.model.predict_proba(x)[:, 1]


class Logistic:
    """Logistic regression on scaled numbers, their squares and marks for what is missing; one epoch is 20 steps of
    gradient descent with momentum."""

    def __init__(self, args):
        self.steps, self.w = 2 if args.smoke else 20, None

    def features(self, x):
        z = np.where(np.isnan(x), 0.0, (x - self.mean) / self.spread)
        return np.hstack([z, z * z - 1.0, np.isnan(x).astype(np.float64), np.ones((len(x), 1))])

    def epoch(self, x, y, number):
        if self.w is None:
            self.mean, self.spread = np.nanmean(x, axis=0), np.nanstd(x, axis=0) + 1e-9
            self.w = np.zeros(self.features(x[:1]).shape[1])
            self.m = np.zeros_like(self.w)
        f = self.features(x)
        for _ in range(self.steps):
            p = 1.0 / (1.0 + np.exp(-np.clip(f.dot(self.w), -30, 30)))
            self.m = 0.9 * self.m - 0.1 * (f.T.dot(p - y) / len(y) + 1e-4 * self.w)
            self.w = self.w + self.m

    def predict(self, x):
        return 1.0 / (1.0 + np.exp(-np.clip(self.features(x).dot(self.w), -30, 30)))


def make_model(args):
    if HistGradientBoostingClassifier is None:
        print("scikit-learn is not installed: a logistic regression in numpy takes its place", flush=True)
        return Logistic(args)
    return Boosting(args)


def train_fold(args, fold):
    x, y, folds, columns = read_table()
    train, valid = folds != fold, np.flatnonzero(folds == fold)
    resume = os.path.join(args.out, "fold%d_resume.pkl" % fold)
    model, start = None, 0
    if os.path.exists(resume) and not args.smoke:
        with open(resume, "rb") as f:
            model, start = pickle.load(f)  # written by this script, below
        print("fold %d goes on at epoch %d" % (fold, start), flush=True)
    model = model or make_model(args)

    def save(next_epoch):
        replace(resume, lambda f: pickle.dump((model, next_epoch), f))
        budget.saved()

    budget = TrainBudget(args.out, fold, args.epochs, start_epoch=start, save_every=args.save_every)
    for epoch in range(start, args.epochs):
        budget.start_epoch()
        model.epoch(x[train], y[train], epoch)
        score = auc(y[valid], model.predict(x[valid]))
        print("fold %d epoch %2d  auc %.4f" % (fold, epoch + 1, score), flush=True)
        verdict = budget.end_epoch(epoch, score)
        if verdict == "timeout":
            save(epoch + 1)
            budget.write_status("timeout", next_epoch=epoch + 1)
            return "timeout"
        if verdict == "prune":
            budget.write_status("pruned", epoch=epoch)
            return "pruned"
        if budget.tick():
            save(epoch + 1)
    test = model.predict(numbers(read_csv("data/test.csv"), columns)) if os.path.exists("data/test.csv") else None
    save_fold(args, fold, budget, valid, model.predict(x[valid]), test)
    return "done"


def assemble(args):
    _, y, folds, _ = read_table()
    test = join_folds(args, y, folds, "auc", auc)
    if test is not None:
        write_csv("subs/%s.csv" % args.name, ["id", "target"], [(r["id"], "%.6f" % p) for r, p in zip(read_csv("data/test.csv"), test)])


def bench(args, fold):
    from common import Bench
    b, began = Bench(args.name, device="cpu", skip=0), time.perf_counter()
    x, y, folds, _ = read_table()
    read, model = time.perf_counter() - began, make_model(args)
    model.epoch(x[folds != fold], y[folds != fold], 0)
    trained = args.epochs * (time.perf_counter() - began - read)
    b.steps, b.note = [(read, read + trained)], "a step is a whole fold: reading the table, and %d epochs at the speed of the first" % args.epochs
    b.write()


def flags(p):
    p.add_argument("--rounds", type=int, default=20, help="boosting rounds an epoch")
    p.add_argument("--rate", type=float, default=0.06)
    p.add_argument("--leaves", type=int, default=15)


if __name__ == "__main__":
    run(arguments(__doc__.splitlines()[0], epochs=10, more=flags), train_fold, assemble, bench)
