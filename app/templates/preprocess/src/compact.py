"""Reads what src/preprocess.py made. Copy this file into the project that trains on it, and attach the run's output.

    from compact import Compact
    pictures = Compact("data/artifacts/compact")      # where a session links an attached kernel's output
    pictures["0a1b2c"]                                # the array of that id, straight from the mapped file
"""

import csv
import json
import os

import numpy as np


class Compact:
    """ids, and their rows. Files are mapped, not read: a row costs what a row costs, with any number of workers."""

    def __init__(self, folder):
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
            self.manifest = json.load(f)
        if not self.manifest["complete"]:
            raise ValueError("%s is not complete: let the preprocessing run to its end (resume it)" % folder)
        self.parts = []
        for item in self.manifest["files"]:
            path = os.path.join(folder, item["path"])
            if os.path.getsize(path) != item["size"]:
                raise ValueError("%s has %d bytes, the manifest says %d: download it again" % (path, os.path.getsize(path), item["size"]))
            if path.endswith(".npy"):
                self.parts.append(np.load(path, mmap_mode="r"))
        with open(os.path.join(folder, "index.csv"), newline="", encoding="utf-8") as f:
            self.where = {r["id"]: (int(r["part"]), int(r["row"])) for r in csv.DictReader(f)}
        self.ids = list(self.where)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, name):
        part, row = self.where[name]
        return self.parts[part][row]
