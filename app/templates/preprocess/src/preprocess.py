"""Raw pictures to one compact array, made once and attached to every later run.

    python src/preprocess.py --name compact --source data/train_images
    python src/preprocess.py --name compact --smoke      two files, to see that everything is there
    python src/preprocess.py --name compact --bench      waiting for the disk, or decoding?

Writes artifacts/NAME/: part000.npy, part001.npy, ... (uint8: rows, size, size, 3), index.csv (id, part, row; the id is the
file's path without its ending) and manifest.json (shape, source, SHA-256 of every file, files that could not be read).
The parts are written one after the other, each whole or not at all. When time runs out the rest is left for a resumed
run, which makes only the missing ones. src/compact.py reads the result.

--source synthetic needs no files: it makes SYNTHETIC pictures in memory, to try the project with.
"""

import argparse
import hashlib
import multiprocessing
import os
import time

from common import Bench, TrainBudget, np, read_json, save_array, write_csv, write_json

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".ppm")


def list_files(source):
    """Ids and where their pictures are, in the order of the names."""
    if source == "synthetic":
        return [("synthetic-%05d" % n, None) for n in range(200)]
    if not os.path.isdir(source):
        raise SystemExit("There is no folder %s. Attached inputs are in data/; --source synthetic needs none." % source)
    found = []
    for folder, folders, names in os.walk(source, followlinks=True):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(ENDINGS):
                path = os.path.join(folder, name)
                found.append((os.path.splitext(os.path.relpath(path, source))[0].replace(os.sep, "/"), path))
    if not found:
        raise SystemExit("There is no picture (%s) in %s." % (" ".join(ENDINGS), source))
    return found


def decode(raw, path):
    """Bytes to an array of uint8, height x width x 3. Plain PPM needs no library; the rest is Pillow's."""
    if raw[:2] == b"P6":
        words = raw.split(None, 4)
        width, height, top = int(words[1]), int(words[2]), int(words[3])
        if top != 255:
            raise ValueError("a PPM of %d levels, not 255" % top)
        return np.frombuffer(raw[len(raw) - 3 * width * height:], dtype=np.uint8).reshape(height, width, 3)
    import io
    from PIL import Image
    with Image.open(io.BytesIO(raw)) as picture:
        return np.asarray(picture.convert("RGB"))


def resize(picture, size):
    """To size x size: each pixel the mean of those it covers, or the nearest when there are fewer."""
    for axis in (0, 1):
        have = picture.shape[axis]
        if have >= size:
            edges = np.linspace(0, have, size + 1).astype(int)
            sums = np.add.reduceat(picture.astype(np.float32), edges[:-1], axis=axis)
            shape = [1, 1, 1]
            shape[axis] = size
            picture = sums / np.diff(edges).reshape(shape)
        else:
            picture = np.take(picture, (np.arange(size) * have) // size, axis=axis)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def read(name, path):
    if path is None:
        rng = np.random.RandomState(int(name.split("-")[1]))
        return b"P6 96 64 255\n" + np.clip(rng.normal(rng.randint(60, 200, 3), 20, (64, 96, 3)), 0, 255).astype(np.uint8).tobytes()
    with open(path, "rb") as f:
        return f.read()


def make_row(job):
    """(array, None) or (None, why not)."""
    name, path, size = job
    try:
        return resize(decode(read(name, path), path), size), None
    except Exception as e:  # one broken file of a million is told in the manifest and ends nothing
        return None, "%s: %s" % (type(e).__name__, e)


def sha256(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def make_part(args, out, number, files, pool):
    """Makes part<number>.npy unless it is there, of the same files and the same size. Returns its record."""
    path, note = "%s/part%03d.npy" % (out, number), "%s/part%03d.json" % (out, number)
    key = hashlib.sha256(("%d\n" % args.size + "\n".join(name for name, _ in files)).encode("utf-8")).hexdigest()
    record = read_json(note)
    if record and record["key"] == key and os.path.exists(path) and os.path.getsize(path) == record["size"]:
        return record
    made = pool.map(make_row, [(name, p, args.size) for name, p in files], chunksize=16)
    good = [row for row, _ in made if row is not None]
    save_array(path, np.stack(good) if good else np.zeros((0, args.size, args.size, 3), dtype=np.uint8))
    record = {"key": key, "path": os.path.basename(path), "size": os.path.getsize(path), "sha256": sha256(path),
              "ids": [name for (name, _), (row, _) in zip(files, made) if row is not None],
              "skipped": [{"id": name, "why": why} for (name, _), (row, why) in zip(files, made) if row is None]}
    write_json(note, record)
    return record


def finish(args, out, records, complete):
    """index.csv, then the manifest that vouches for it."""
    write_csv(out + "/index.csv", ["id", "part", "row"], [(name, n, row) for n, r in enumerate(records) for row, name in enumerate(r["ids"])])
    files = [{"path": r["path"], "size": r["size"], "sha256": r["sha256"], "rows": len(r["ids"])} for r in records]
    files.append({"path": "index.csv", "size": os.path.getsize(out + "/index.csv"), "sha256": sha256(out + "/index.csv"), "rows": None})
    skipped = [s for r in records for s in r["skipped"]]
    rows = sum(len(r["ids"]) for r in records)
    write_json(out + "/manifest.json", {
        "schema": 1, "complete": complete, "source": args.source, "synthetic": args.source == "synthetic", "dtype": "uint8",
        "shape": [rows, args.size, args.size, 3], "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "files": files, "skipped": skipped})
    print("%d rows of %d x %d x 3 in %d parts, %d files could not be read%s" % (
        rows, args.size, args.size, len(records), len(skipped), "" if complete else "; NOT COMPLETE: resume this run"), flush=True)
    return rows


def bench(args, files):
    if Bench is None:
        raise SystemExit("--bench needs the package sandglass: it is in every session, or put its folder into PYTHONPATH.")
    b = Bench(args.name, batch_size=1)
    for name, path in files[:40]:
        with b.waiting():
            raw = read(name, path)
        with b.working():
            resize(decode(raw, path), args.size)
    b.note = "wait: reading a file; work: decoding and resizing it, in one of %d processes" % args.workers
    b.write()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--name", default="compact", help="the result goes to artifacts/NAME")
    p.add_argument("--source", default="synthetic", help="folder with pictures, or synthetic")
    p.add_argument("--size", type=int, default=64, help="pixels a side")
    p.add_argument("--part-rows", type=int, default=4096, help="files of one part; a kill loses at most one part's work")
    p.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    p.add_argument("--smoke", action="store_true")
    p.add_argument("--bench", action="store_true")
    args = p.parse_args()
    files, out = list_files(args.source), os.path.join("artifacts", args.name)
    if args.bench:
        return bench(args, files)
    if args.smoke:
        files = files[:2]
    os.makedirs(out, exist_ok=True)
    parts = [files[n:n + args.part_rows] for n in range(0, len(files), args.part_rows)]
    budget, records = TrainBudget(out, 0, len(parts), start_epoch=0), []
    with multiprocessing.Pool(args.workers) as pool:
        for n, part in enumerate(parts):
            budget.start_epoch()
            records.append(make_part(args, out, n, part, pool))
            if budget.end_epoch(n, (n + 1) / len(parts)) == "timeout":  # the score is the share that is done
                finish(args, out, records, complete=False)
                budget.write_status("timeout", next_epoch=n + 1)
                return
    for name in os.listdir(out):  # of an earlier run with more parts
        if name.startswith("part") and name[4:7].isdigit() and int(name[4:7]) >= len(parts):
            os.unlink(os.path.join(out, name))
    if not finish(args, out, records, complete=True):
        raise SystemExit("No file could be read; the reasons are in %s/manifest.json." % out)
    budget.write_status("done", **({"smoke": True} if args.smoke else {}))


if __name__ == "__main__":
    main()
