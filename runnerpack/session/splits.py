"""Step 2: the project's files are written out, and the frozen split is rebuilt cell for cell."""

import hashlib
import itertools
import json
import lzma
import os

from tools import Stop, inside

TABLES = "_sandglass/tables.json"


def unpack(config, files, tables, scratch):
    """Writes the payload into scratch and rebuilds the packed tables; Stop when one differs from its original.

    files is the open tar, tables the bytes of the packed tables one after another: _sandglass/tables.json in the tar
    says where each begins and how long it is.
    """
    members = {m.name: m for m in files.getmembers() if m.isfile()}
    places = json.loads(files.extractfile(members.pop(TABLES)).read().decode()) if TABLES in members else {}
    for name, member in members.items():
        path = inside(scratch, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(files.extractfile(member).read())
        if member.mode & 0o100:
            os.chmod(path, 0o755)
    for split in config.get("splits") or ():
        if split["form"] == "mounted":
            continue  # it comes with the inputs: see mounted_split
        try:
            content = unpack_split(split, lambda name: tables[places[name][0]:sum(places[name])])
        except (KeyError, ValueError, IndexError, lzma.LZMAError) as e:
            raise Stop("splits-differ", "%s cannot be rebuilt (%s: %s). Nothing was trained." % (split.get("path"), type(e).__name__, e))
        if hashlib.sha256(content).hexdigest() != split["sha256"]:
            raise Stop("splits-differ", "%s was rebuilt, but not to the same bytes. Nothing was trained." % split["path"])
        path = inside(scratch, split["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)


def unpack_split(split, member):
    """The original bytes of a packed table. member(name) gives a payload file's bytes."""

    def blob(description):
        data = member(description["blob"])
        return lzma.decompress(data) if description["xz"] else data

    if split["form"] == "raw":
        return blob(split)
    if split["form"] != "table":
        raise ValueError("unknown form %r" % split["form"])
    rows, eol = split["rows"], split["eol"]
    columns = [unpack_column(c, rows, blob) for c in split["columns"]]
    header = split["sep"].join(c["name"] for c in split["columns"])
    lines = itertools.chain([header], map(split["sep"].join, zip(*columns)))
    text = eol.join(lines) + (eol if split["final_eol"] else "")
    return (b"\xef\xbb\xbf" if split["bom"] else b"") + text.encode("utf-8")


def unpack_column(c, rows, blob):
    """The cells of one column, as text."""
    kind = c["kind"]
    if kind == "const":
        return [c["value"]] * rows
    if kind == "range":
        return numbers(c, range(c["start"], c["start"] + c["step"] * rows, c["step"]) if c["step"] else [c["start"]] * rows)
    data = blob(c)
    if kind == "ints":
        return numbers(c, itertools.accumulate((v >> 1) ^ -(v & 1) for v in itertools.islice(varints(data), rows)))
    if kind == "radix":
        return unpack_radix(data, c["labels"], rows, c["digits"], c["bytes"])
    if kind == "bytes":
        return [c["labels"][d] for d in data[:rows]]
    if kind == "runs":
        pairs = iter(varints(data))
        return [label for v in pairs for label in itertools.repeat(c["labels"][v], next(pairs))]
    if kind == "chars":
        return unpack_chars(c, data, rows)
    if kind == "front":
        return unpack_front(data, rows)
    if kind in ("text", "repeat"):
        cells = data.decode("utf-8").split("\n")[:-1]
        return cells if kind == "text" else list(itertools.islice(itertools.cycle(cells), rows))
    raise ValueError("unknown kind %r" % kind)


def numbers(c, values):
    return [c["prefix"] + str(v).zfill(c["width"]) + c["suffix"] for v in values]


def varints(data):
    """Unsigned LEB128 numbers."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def unpack_radix(data, labels, count, digits, width):
    """count labels from groups of `digits` base-k digits in `width` bytes, several digits at a time by a table."""
    k, step = len(labels), 1
    while step < digits and k ** (step + 1) <= 4096:
        step += 1
    table = [t[::-1] for t in itertools.product(labels, repeat=step)]
    out = []
    for at in range(0, len(data), width):
        value, group = int.from_bytes(data[at:at + width], "little"), []
        for _ in range(-(-digits // step)):
            value, rest = divmod(value, len(table))
            group.extend(table[rest])
        out.extend(group[:digits])
    if len(out) < count:
        raise ValueError("%d cells, %d expected" % (len(out), count))
    return out[:count]


def unpack_chars(c, data, rows):
    slots, cell, cells = c["slots"], list(c["mask"]), []
    chars = unpack_radix(data, c["alphabet"], rows * len(slots), c["digits"], c["bytes"])
    for at in range(0, rows * len(slots), len(slots)):
        for slot, char in zip(slots, chars[at:at + len(slots)]):
            cell[slot] = char
        cells.append("".join(cell))
    return cells


def unpack_front(data, rows):
    cells, last = [], b""
    for shared, rest in zip(data[:rows], data[rows:].split(b"\n")):
        last = last[:shared] + rest
        cells.append(last.decode("utf-8"))
    return cells
