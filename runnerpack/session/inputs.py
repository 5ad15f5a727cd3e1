"""Step 3: what Kaggle mounted, in the old and in the new layout, is found and linked into data/."""

import filecmp
import itertools
import os
import time

from tools import Stop, inside, link, sha256_file

ROOTS = {"dataset": ("datasets",), "competition": ("competitions",), "kernel": ("notebooks", "kernels"), "model": ("models",)}
LAYOUT_NAMES = {name for names in ROOTS.values() for name in names}


def child(folder, name):
    """The child folder of that name, upper and lower case alike, or None. An exact match wins."""
    exact = os.path.join(folder, name)
    if os.path.isdir(exact):
        return exact
    try:
        names = [n for n in os.listdir(folder) if n.lower() == name.lower() and os.path.isdir(os.path.join(folder, n))]
    except OSError:
        return None
    return os.path.join(folder, sorted(names)[0]) if names else None


def descend(folder, names):
    for name in names:
        folder = folder and child(folder, name)
    return folder


def find_input(root, kind, ref):
    """The mount of one input under the input folder, or None. At most a handful of folder listings.

    New layout: <root>/datasets/<owner>/<slug>, <root>/notebooks/<owner>/<slug>, <root>/competitions/<slug>,
    <root>/models/<owner>/<model>/<framework>/<variation>/<version>. Old layout: the same without kind and owner.
    The mount itself is the answer: a folder of the same name inside it is the user's own.
    """
    parts = [p for p in ref.split("/") if p]
    for name in ROOTS.get(kind, ()):
        found = descend(root, [name] + parts)
        if found:
            return found
    plain = parts if kind == "competition" else parts[1:]
    if not plain or plain[0].lower() in LAYOUT_NAMES:
        return None
    found = descend(root, plain)
    if found and not of_another_owner(root, kind, parts, found):
        return found
    return None


def of_another_owner(root, kind, parts, found):
    """True when the owner-less folder is only another name for somebody else's mount."""
    if kind == "competition":
        return False
    for top in (os.path.join(root, name) for names in ROOTS.values() for name in names):
        try:
            owners = os.listdir(top)
        except OSError:
            continue
        for owner in owners:
            other = descend(top, [owner] + parts[1:])
            if other and owner.lower() != parts[0].lower() and os.path.samefile(other, found):
                return True
    return False


def folders_present(root, depth=2, limit=200):
    """Every folder under root down to depth, "a", "a/b" and so on, at most limit of them."""
    out, level = [], [""]
    for _ in range(depth):
        below = []
        for base in level:
            try:
                with os.scandir(os.path.join(root, base)) as entries:
                    names = sorted(e.name for e in itertools.islice(entries, 5000) if e.is_dir())
            except OSError:
                continue
            below += [base + "/" + n if base else n for n in names]
        out += below
        level = below[:limit]
    return sorted(out)[:limit]


def find_inputs(root, wanted):
    """{(kind, ref): folder or None}. Waits for a slow mount while the folders under root still change, 10 s at most."""
    began = changed = time.monotonic()
    seen = None
    while True:
        found = {(kind, ref): find_input(root, kind, ref) for kind, ref in wanted}
        now = time.monotonic()
        if None not in found.values() or now - began > 10:
            return found
        present = folders_present(root)
        if seen is not None and present != seen:
            changed = now
        if now - changed > 1:
            return found
        seen = present
        time.sleep(0.2)


def not_mounted(root, kind, ref):
    present = folders_present(root)
    return ("The %s %s is not mounted under %s. Folders that are: %s. The list is stable, so waiting longer will not help: "
            "check the owner and the name, and that this account may see it."
            % (kind, ref, root, ", ".join(present) if present else "none at all"))


class Linker:
    """Links inputs into the project and tells of clashes."""

    def __init__(self, scratch, record, layout):
        self.scratch, self.record, self.layout, self.origin = scratch, record, layout, {}

    def target(self, item):
        """The folder for an input, slash-separated under the project; None: attached only."""
        if item.get("target"):
            return item["target"]
        slug = item["ref"].split("/")[-1]
        if item["kind"] == "model":
            return None
        if self.layout == "nested" and item["kind"] != "competition":
            return "data/ext/" + ("kout-" if item["kind"] == "kernel" else "") + slug
        return "data"

    def add(self, item, source):
        target = self.target(item)
        if target is None:
            return
        dest, label = inside(self.scratch, target), "%s %s" % (item["kind"], item["ref"])
        if dest != os.path.join(self.scratch, "data") and not os.path.lexists(dest):
            link(source, dest)
            self.origin[dest] = (label, source)
            return
        if os.path.islink(dest):  # a second input for the same folder: make room beside the first
            first, where = self.origin[dest]
            os.unlink(dest)
            os.makedirs(dest)
            self.children(first, where, dest)
        self.children(label, source, dest)

    def children(self, label, source, dest):
        os.makedirs(dest, exist_ok=True)
        for name in sorted(os.listdir(source)):
            there, mine = os.path.join(dest, name), os.path.join(source, name)
            if not os.path.lexists(there):
                link(mine, there)
                self.origin[there] = (label, mine)
            elif not same_file(there, mine):
                owner = self.origin.get(there, ("the project's own file",))[0]
                self.record.finding("input-clash", "warn", "%s/%s is there from %s; the one of %s was left out." % (
                    os.path.relpath(dest, self.scratch).replace(os.sep, "/"), name, owner, label))


def same_file(a, b):
    """True for the same small file; large ones and folders are the same only if they are one."""
    if os.path.isfile(a) and os.path.isfile(b) and os.path.getsize(a) == os.path.getsize(b) <= 64 << 20:
        return filecmp.cmp(a, b, shallow=False)
    return os.path.exists(a) and os.path.samefile(a, b)


def mounted_split(split, mount, scratch):
    """Links a table that a dataset holds, and Stop unless it is the table that the build saw, byte for byte."""
    parts = split["path"].split("/")
    folders = [mount] + [os.path.join(mount, d) for d in folders_present(mount)] if mount else []
    places = [p for p in (os.path.join(f, parts[-1]) for f in folders) if os.path.isfile(p)]
    for place in places:
        if os.path.getsize(place) == split["bytes"] and sha256_file(place) == split["sha256"]:
            dest = inside(scratch, split["path"])
            if os.path.lexists(dest):
                os.unlink(dest)
            link(place, dest)
            return
    what = "is not mounted" if not mount else "has a %s, but not the one that this session was built with" % parts[-1] if places else "has no %s" % parts[-1]
    raise Stop("splits-differ", "%s was to come from the dataset %s, which %s. Nothing was trained: upload the file of the build to that "
               "dataset, or build again with the one that is there." % (split["path"], split["from"], what))


def bring_inputs(config, record, root, scratch):
    """Links every input; returns {kernel or dataset ref: folder} for the steps that follow."""
    items = [i for i in config.get("inputs") or () if i.get("kind") in ROOTS]
    extra = [("kernel", r) for r in config.get("resume") or ()] + [("dataset", w) for w in config.get("wheels") or ()]
    mounted = [s for s in config.get("splits") or () if s["form"] == "mounted"]
    found = find_inputs(root, dict.fromkeys([(i["kind"], i["ref"]) for i in items] + extra + [("dataset", s["from"]) for s in mounted]))
    for split in mounted:
        mounted_split(split, found["dataset", split["from"]], scratch)
    missing = [not_mounted(root, i["kind"], i["ref"]) for i in items if found[i["kind"], i["ref"]] is None and ("kernel", i["ref"]) not in extra]
    missing += [not_mounted(root, "dataset", ref) for kind, ref in extra if kind == "dataset" and found[kind, ref] is None]
    for text in missing:
        record.finding("missing-input", "warn" if config.get("allow_missing_inputs") else "bad", text)
    if missing and not config.get("allow_missing_inputs"):
        raise Stop("missing-input", missing[0])
    linker, taken = Linker(scratch, record, config.get("layout") or "flat"), {}
    for item in items:
        key = item["kind"], item["ref"]
        if found[key] is None or key in extra:
            continue
        if found[key] in taken:
            record.finding("input-clash", "warn", "%s %s and %s are one and the same folder %s." % (key[0], key[1], taken[found[key]], found[key]))
            continue
        taken[found[key]] = "%s %s" % key
        linker.add(item, found[key])
    return {key: folder for key, folder in found.items() if folder}
