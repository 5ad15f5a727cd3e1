"""Makes a small SYNTHETIC data set, so that the project runs before your own data is in place. It describes nothing real.

    python src/make_data.py            data/train.csv, data/test.csv, data/folds.csv

Eight numbers a row, some missing; the target is a noisy function of four of them.
"""

import argparse
import math

from common import make_folds, np, write_csv


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--rows", type=int, default=2000)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    rng = np.random.RandomState(a.seed)
    x = rng.randn(a.rows, 8)
    logit = 1.2 * x[:, 0] - x[:, 1] * x[:, 2] + 0.8 * np.abs(x[:, 3]) - 0.6
    y = (rng.rand(a.rows) < 1 / (1 + np.exp(-1.5 * logit))).astype(int)
    x[rng.rand(*x.shape) < 0.05] = math.nan
    ids = ["synthetic-%05d" % n for n in range(a.rows)]
    cells = [["" if math.isnan(v) else "%.4f" % v for v in row] for row in x]
    names, cut = ["x%d" % n for n in range(8)], int(0.8 * a.rows)
    write_csv("data/train.csv", ["id"] + names + ["target"], [[i] + c + [t] for i, c, t in list(zip(ids, cells, y))[:cut]])
    write_csv("data/test.csv", ["id"] + names, [[i] + c for i, c in list(zip(ids, cells))[cut:]])
    make_folds(ids[:cut], list(y[:cut]))
    print("wrote %d synthetic training rows and %d test rows to data/" % (cut, a.rows - cut))


if __name__ == "__main__":
    main()
