"""Makes a small SYNTHETIC text set: notes about machines, in three classes. No person wrote them and they mean nothing;
they let the project run before your own texts are in place.

    python src/make_data.py            data/train.csv, data/test.csv, data/folds.csv
"""

import argparse
import random

from common import make_folds, write_csv

PARTS = ["the pump", "the left valve", "gate two", "the old motor", "line seven", "the cooler", "the belt", "sensor nine"]
SAID = {
    "fault": ["stopped without a warning", "leaks oil again", "makes a grinding noise", "shows an error", "lost all pressure"],
    "order": ["needs a new filter by monday", "is to be replaced, please order one", "wants two spare seals", "should get a bigger bearing"],
    "fine": ["runs as it should", "was checked and is in order", "had no trouble this week", "sounds good after the repair"],
}
AROUND = ["this morning", "says the night shift", "as far as we can tell", "since the weekend", "at station four", "no hurry", "seen twice"]


def note(rng, label):
    """One sentence; every fifth also has a phrase of another class, so that single words do not decide."""
    words = [rng.choice(PARTS), rng.choice(SAID[label])]
    if rng.random() < 0.2:
        other = rng.choice([k for k in SAID if k != label])
        words += ["though", rng.choice(PARTS), rng.choice(SAID[other])]
    for _ in range(rng.randrange(3)):
        words.insert(rng.choice([0, len(words)]), rng.choice(AROUND))
    return " ".join(words)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--texts", type=int, default=600, help="for training; a fifth as many for the test")
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    rng, labels = random.Random(a.seed), sorted(SAID)
    rows = [("synthetic-%05d" % n, labels[n % 3]) for n in range(a.texts + a.texts // 5)]
    rows = [(name, note(rng, label), label) for name, label in rows]
    write_csv("data/train.csv", ["id", "text", "label"], rows[:a.texts])
    write_csv("data/test.csv", ["id", "text"], [r[:2] for r in rows[a.texts:]])
    make_folds([r[0] for r in rows[:a.texts]], [r[2] for r in rows[:a.texts]])
    print("wrote %d synthetic training texts and %d test texts to data/" % (a.texts, a.texts // 5))


if __name__ == "__main__":
    main()
