"""Male or female? A penguin's sex from its measurements, by a small neural network in plain Python.

    python src/train.py --name scaled-wide --folds 0        train fold 0
    python src/train.py --name scaled-wide --assemble       join the finished folds: score.json, subs/scaled-wide.csv
    python src/train.py --name scaled-wide --folds 0 --smoke   two batches of one epoch, to see that everything is there

The script keeps the contract of a Sandglass session: a learning curve that grows while it trains, a status file at the
end of a fold, a checkpoint when time runs out, a clean stop before the deadline. Nothing but the standard library.
"""

import argparse
import csv
import json
import math
import os
import random
import struct
import time

try:
    from sandglass.budget import TrainBudget  # travels with every session
except ImportError:
    TrainBudget = None  # run by hand: no deadline, see PlainBudget

# What is compared. `baseline` knows the four measurements as they are; the idea brings them to one scale, adds what
# is known besides, marks what is missing, and uses a wider network. Each has the learning rate that suits it.
SETTINGS = {
    "baseline": {"features": "raw", "hidden": 12, "rate": 0.006},
    "scaled-wide": {"features": "scaled", "hidden": 18, "rate": 0.002},
}
MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
UNITS = [0.1, 0.1, 0.01, 0.001]  # the baseline's cm, cm, 10 cm and kg
KINDS = {"species": ["Adelie", "Chinstrap", "Gentoo"], "island": ["Biscoe", "Dream", "Torgersen"]}


# -- data

def read_birds():
    """Rows of data/penguins.csv with their fold. Birds of unknown sex have fold -1: they are what we predict."""
    with open("data/penguins.csv", newline="", encoding="utf-8") as f:
        birds = list(csv.DictReader(f))
    with open("data/folds.csv", newline="", encoding="utf-8") as f:
        folds = {row["id"]: int(row["fold"]) for row in csv.DictReader(f)}
    for bird in birds:
        bird["fold"] = folds[bird["id"]]
        bird["y"] = {"male": 1, "female": 0}.get(bird["sex"])
    return birds


def make_features(how, train):
    """A function from a bird to its list of numbers. Whatever is learnt from data is learnt from `train` alone."""
    known = [[float(b[m]) for b in train if b[m]] for m in MEASURES]
    means = [sum(v) / len(v) for v in known]
    if how == "raw":
        return lambda b: [(float(b[m]) if b[m] else mean) * unit for m, mean, unit in zip(MEASURES, means, UNITS)]
    spreads = [math.sqrt(sum((x - mean) ** 2 for x in v) / len(v)) for v, mean in zip(known, means)]

    def scaled(bird):
        values = [(float(bird[m]) - mean) / spread if bird[m] else 0.0 for m, mean, spread in zip(MEASURES, means, spreads)]
        missing = [0.0 if bird[m] else 1.0 for m in MEASURES]
        kinds = [1.0 if bird[c] == value else 0.0 for c, values_ in KINDS.items() for value in values_]
        return values + missing + kinds

    return scaled


# -- model: inputs -> hidden (tanh) -> one probability

class Net:
    """One hidden layer, trained by stochastic gradient descent with momentum on the log loss."""

    def __init__(self, inputs, hidden, rng):
        self.w1 = [[rng.gauss(0, 1 / math.sqrt(inputs + 1)) for _ in range(inputs + 1)] for _ in range(hidden)]
        self.w2 = [rng.gauss(0, 1 / math.sqrt(hidden + 1)) for _ in range(hidden + 1)]
        self.m1 = [[0.0] * (inputs + 1) for _ in range(hidden)]
        self.m2 = [0.0] * (hidden + 1)

    def forward(self, x):
        h = [math.tanh(w[-1] + sum(a * b for a, b in zip(w, x))) for w in self.w1]
        z = self.w2[-1] + sum(a * b for a, b in zip(self.w2, h))
        return h, 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))

    def step(self, batch, rate, momentum=0.9, decay=1e-4):
        """One update from [(x, y)]."""
        g1 = [[0.0] * len(w) for w in self.w1]
        g2 = [0.0] * len(self.w2)
        for x, y in batch:
            h, p = self.forward(x)
            error = (p - y) / len(batch)
            for j, hj in enumerate(h):
                g2[j] += error * hj
                back = error * self.w2[j] * (1.0 - hj * hj)
                row = g1[j]
                for i, xi in enumerate(x):
                    row[i] += back * xi
                row[-1] += back
            g2[-1] += error
        for w, m, g in list(zip(self.w1, self.m1, g1)) + [(self.w2, self.m2, g2)]:
            for i in range(len(w)):
                m[i] = momentum * m[i] - rate * (g[i] + decay * w[i])
                w[i] += m[i]


def auc(pairs):
    """The chance that a male gets a higher score than a female, from [(score, y)]. 0.5 is guessing."""
    males = [s for s, y in pairs if y]
    females = [s for s, y in pairs if not y]
    wins = sum((m > f) + 0.5 * (m == f) for m in males for f in females)
    return wins / (len(males) * len(females))


# -- files

def save_npy(path, values, kind):
    """Writes a one-dimensional .npy file (format 1.0). kind: "<f8" float64 or "<i8" int64, both little-endian."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    data = struct.pack("<%d%s" % (len(values), "d" if kind == "<f8" else "q"), *values)
    write(path, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii") + data)


def load_npy(path):
    """The values of a file that save_npy wrote."""
    with open(path, "rb") as f:
        raw = f.read()
    start = 10 + struct.unpack("<H", raw[8:10])[0]
    kind = "d" if b"<f8" in raw[:start] else "q"
    return list(struct.unpack("<%d%s" % ((len(raw) - start) // 8, kind), raw[start:]))


def write(path, data):
    """Whole or not at all: a session may be killed at any moment."""
    with open(path + ".part", "wb") as f:
        f.write(data)
    os.replace(path + ".part", path)


class PlainBudget:
    """Stands in for TrainBudget when the script is run by hand: writes the same files, never says stop."""

    def __init__(self, out_dir, fold, epochs):
        self.dir, self.fold, self.epochs, self.points, self.began = out_dir, fold, epochs, [], time.time()

    def start_epoch(self):
        self.began = time.time()

    def tick(self):
        return False

    def end_epoch(self, epoch, score):
        self.points = self.points[:epoch] + [{"epoch": epoch, "score": score, "seconds": round(time.time() - self.began, 3)}]
        curve = {"fold": self.fold, "epochs": self.epochs, "greater_is_better": True, "points": self.points}
        write("%s/curve_fold%d.json" % (self.dir, self.fold), json.dumps(curve).encode())
        return "continue"

    def write_status(self, status, **info):
        row = dict({"fold": self.fold, "status": status, "best": max(p["score"] for p in self.points), "epochs_run": len(self.points)}, **info)
        write("%s/fold%d_status.json" % (self.dir, self.fold), json.dumps(row).encode())


# -- training

def train_fold(args, out, fold):
    """Trains one fold and leaves its predictions. False when time ran out or the fold was pruned."""
    birds = read_birds()
    train = [b for b in birds if b["fold"] not in (fold, -1)]
    valid = [(i, b) for i, b in enumerate(birds) if b["fold"] == fold]
    unknown = [b for b in birds if b["fold"] == -1]
    features = make_features(args.features, train)
    rows = [(features(b), b["y"]) for b in train]
    checks = [(features(b), b["y"]) for _, b in valid]
    rng = random.Random("%d/%d" % (args.seed, fold))
    net, start = Net(len(rows[0][0]), args.hidden, rng), 0
    resume = os.path.join(out, "fold%d_resume.json" % fold)
    if os.path.exists(resume):
        with open(resume, encoding="utf-8") as f:
            state = json.load(f)
        net.w1, net.w2, net.m1, net.m2, start = (state[k] for k in ("w1", "w2", "m1", "m2", "next_epoch"))
        print("fold %d goes on at epoch %d" % (fold, start), flush=True)

    def save(next_epoch):
        write(resume, json.dumps(dict(vars(net), next_epoch=next_epoch)).encode())

    epochs = 1 if args.smoke else args.epochs
    budget = (TrainBudget or PlainBudget)(out, fold, epochs)
    for epoch in range(start, epochs):
        budget.start_epoch()
        rng = random.Random("%d/%d/%d" % (args.seed, fold, epoch))  # an epoch is the same whether resumed or not
        # A ruler is not exact: each pass shows the birds with a little noise on their measurements.
        shown = [([v + rng.gauss(0, args.noise) for v in x[:4]] + x[4:], y) for _ in range(args.passes) for x, y in rows]
        rng.shuffle(shown)
        rate = args.rate * 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        for at in range(0, len(shown) if not args.smoke else 64, 32):
            net.step(shown[at:at + 32], rate)
            if budget.tick():  # save now: the deadline is near, or the last save is long ago
                save(epoch)
                budget.saved()
        score = auc([(net.forward(x)[1], y) for x, y in checks])
        print("fold %d epoch %2d  auc %.4f" % (fold, epoch + 1, score), flush=True)
        verdict = budget.end_epoch(epoch, score)
        if verdict == "timeout":
            save(epoch + 1)
            budget.write_status("timeout", next_epoch=epoch + 1)
            return False
        if verdict == "prune":
            budget.write_status("pruned", epoch=epoch)
            return False
    save_npy("%s/fold%d_oof.npy" % (out, fold), [net.forward(x)[1] for x, _ in checks], "<f8")
    save_npy("%s/fold%d_idx.npy" % (out, fold), [i for i, _ in valid], "<i8")
    save_npy("%s/fold%d_test.npy" % (out, fold), [net.forward(features(b))[1] for b in unknown], "<f8")
    if os.path.exists(resume):
        os.unlink(resume)
    budget.write_status("done")
    return True


def assemble(args, out):
    """Joins the finished folds: the score over all birds, and predictions for those of unknown sex."""
    birds = read_birds()
    folds = sorted({b["fold"] for b in birds} - {-1})
    everything, by_fold, tests = [], {}, []
    for k in folds:
        idx, oof = load_npy("%s/fold%d_idx.npy" % (out, k)), load_npy("%s/fold%d_oof.npy" % (out, k))
        pairs = [(p, birds[i]["y"]) for i, p in zip(idx, oof)]
        by_fold[str(k)] = round(auc(pairs), 5)
        everything += pairs
        tests.append(load_npy("%s/fold%d_test.npy" % (out, k)))
    score = {"score": round(auc(everything), 5), "metric": "auc", "greater_is_better": True, "fold_scores": by_fold}
    write(os.path.join(out, "score.json"), json.dumps(score, indent=1).encode())
    os.makedirs("subs", exist_ok=True)
    unknown = [b for b in birds if b["fold"] == -1]
    lines = ["id,male"] + ["%s,%.4f" % (b["id"], sum(t[n] for t in tests) / len(tests)) for n, b in enumerate(unknown)]
    write("subs/%s.csv" % args.name, ("\n".join(lines) + "\n").encode())
    print("auc %.4f over %d birds; folds %s" % (score["score"], len(everything), by_fold))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--name", default="scaled-wide", help="results go to artifacts/NAME; a known setting gives the defaults")
    p.add_argument("--folds", type=int, nargs="+", default=[])
    p.add_argument("--assemble", action="store_true")
    p.add_argument("--smoke", action="store_true")
    p.add_argument("--features", choices=["raw", "scaled"])
    p.add_argument("--hidden", type=int)
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--passes", type=int, default=8, help="noisy views of each bird in an epoch")
    p.add_argument("--noise", type=float, default=0.05)
    p.add_argument("--rate", type=float, help="learning rate of the first epoch; it falls to 0 along a cosine")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    setting = SETTINGS.get(args.name, SETTINGS["scaled-wide"])
    args.features = args.features or setting["features"]
    args.hidden = args.hidden or setting["hidden"]
    args.rate = args.rate or setting["rate"]
    out = os.path.join("artifacts", args.name)
    os.makedirs(out, exist_ok=True)
    finished = args.assemble or all([train_fold(args, out, k) for k in args.folds])
    # In a session every fold is a process of its own, and the joining is asked for when all are done.
    if args.assemble or (finished and len(args.folds) > 1 and not args.smoke and not os.environ.get("KG_DEFER_ASSEMBLE")):
        assemble(args, out)


if __name__ == "__main__":
    main()
