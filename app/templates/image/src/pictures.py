"""Pictures by their id: from a file, or drawn here when the id says synthetic.

Your own: put id,label into data/train.csv and attach a data set with the files (its content appears in data/ in a
session, or give --images). <id> may have its ending or not; Pillow reads them.
"""

import os

from common import np

SIZE = 32              # pixels of a synthetic picture
SHAPES = ["bar", "disc", "ring"]
ENDINGS = ["", ".jpg", ".jpeg", ".png", ".webp"]


def draw(name, size=SIZE):
    """The SYNTHETIC picture "synthetic-<shape>-<number>": a shape somewhere on a noisy ground. uint8, size x size x 3."""
    _, shape, number = name.split("-")
    rng = np.random.RandomState([SHAPES.index(shape), int(number)])
    y, x = np.mgrid[0:size, 0:size] / float(size)
    cx, cy, r = rng.uniform(0.35, 0.65), rng.uniform(0.35, 0.65), rng.uniform(0.18, 0.3)
    away = np.hypot(x - cx, y - cy)
    if shape == "disc":
        mask = away < r
    elif shape == "ring":
        mask = np.abs(away - r) < 0.06
    else:
        turn = rng.uniform(0, np.pi)
        mask = (np.abs((x - cx) * np.cos(turn) + (y - cy) * np.sin(turn)) < 0.07) & (away < 1.5 * r)
    picture = rng.uniform(20, 120, 3) * np.ones((size, size, 1))
    picture[mask] = rng.uniform(120, 235, 3)
    return np.clip(picture + rng.normal(0, 18, picture.shape), 0, 255).astype(np.uint8)


def find(name, folders):
    for folder in folders:
        for ending in ENDINGS:
            path = os.path.join(folder, name + ending)
            if os.path.isfile(path):
                return path
    raise SystemExit("There is no picture %s in %s." % (name, ", ".join(folders)))


def load(name, size, folders):
    """A picture as uint8, size x size x 3."""
    if name.startswith("synthetic-"):
        return draw(name, size)
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("Pictures from files need Pillow (Kaggle's images have it).")
    with Image.open(find(name, folders)) as picture:
        return np.asarray(picture.convert("RGB").resize((size, size), Image.BILINEAR))


def augment(picture, rng):
    """Flipped or not, moved by up to an eighth, a little brighter or darker."""
    if rng.rand() < 0.5:
        picture = picture[:, ::-1]
    reach = max(1, picture.shape[0] // 8)
    down, right = rng.randint(-reach, reach + 1, 2)
    picture = np.roll(picture, (down, right), axis=(0, 1))
    return np.clip(picture.astype(np.float32) * rng.uniform(0.85, 1.15), 0, 255)


def tensor(picture):
    """Channels first, float32, scaled as ImageNet's pictures are."""
    scaled = (np.asarray(picture, dtype=np.float32) / 255.0 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1), dtype=np.float32)
