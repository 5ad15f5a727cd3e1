"""Makes the lists of a small SYNTHETIC picture set: bars, discs and rings, drawn from their names when they are needed
(src/pictures.py). It shows nothing real; it lets the project run before your own pictures are in place.

    python src/make_data.py            data/train.csv, data/test.csv, data/folds.csv
"""

import argparse

from common import make_folds, write_csv
from pictures import SHAPES


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--pictures", type=int, default=600, help="for training; a fifth as many for the test")
    a = p.parse_args()
    names = [("synthetic-%s-%05d" % (SHAPES[n % len(SHAPES)], n), SHAPES[n % len(SHAPES)]) for n in range(a.pictures + a.pictures // 5)]
    write_csv("data/train.csv", ["id", "label"], names[:a.pictures])
    write_csv("data/test.csv", ["id"], [(name,) for name, _ in names[a.pictures:]])
    make_folds([name for name, _ in names[:a.pictures]], [label for _, label in names[:a.pictures]])
    print("wrote the names of %d synthetic training pictures and %d test pictures to data/" % (a.pictures, a.pictures // 5))


if __name__ == "__main__":
    main()
