"""Packed tables come back byte for byte, or the session stops before anything trains."""

import hashlib
import itertools
import lzma
import os
import random
import shutil
import unittest

from harness import Case, job

import splits


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(values):
    return b"".join(varint((d << 1) ^ (d >> 63)) for d in (b - a for a, b in zip([0] + values, values)))


def radix(digits, k, group, width):
    out = b""
    for at in range(0, len(digits), group):
        out += sum(d * k ** j for j, d in enumerate(digits[at:at + group])).to_bytes(width, "little")
    return out


class Kinds(Case):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(7)

    def table(self, columns, cells, blobs, **more):
        lines = [",".join(c["name"] for c in columns)] + [",".join(row) for row in zip(*cells)]
        split = dict({"path": "data/folds.csv", "form": "table", "rows": len(cells[0]), "bom": False, "sep": ",", "eol": "\n",
                      "final_eol": True, "columns": columns}, **more)
        text = split["eol"].join(line.replace(",", split["sep"]) for line in lines) + (split["eol"] if split["final_eol"] else "")
        want = (b"\xef\xbb\xbf" if split["bom"] else b"") + text.encode()
        self.assertEqual(splits.unpack_split(split, blobs.__getitem__), want)

    def test_numbers_and_constants(self):
        ids = [5, 3, 300, -7, 70000]
        self.table([{"name": "a", "kind": "range", "prefix": "id", "suffix": "x", "start": 7, "step": 3, "width": 4},
                    {"name": "b", "kind": "const", "value": "1.0"},
                    {"name": "c", "kind": "ints", "prefix": "", "suffix": "", "width": 0, "blob": "c", "xz": False},
                    {"name": "d", "kind": "range", "prefix": "", "suffix": "", "start": 2, "step": -1, "width": 0}],
                   [["id%04dx" % (7 + 3 * i) for i in range(5)], ["1.0"] * 5, [str(v) for v in ids], ["2", "1", "0", "-1", "-2"]],
                   {"c": zigzag(ids)}, bom=True, eol="\r\n", sep=";", final_eol=False)

    def test_labels(self):
        for k, group, width in ((2, 8, 1), (3, 5, 1), (5, 27, 8), (5, 103, 30), (7, 2, 1), (200, 1, 1)):
            digits = [self.rng.randrange(k) for _ in range(1000)]
            labels = ["f%d" % i for i in range(k)]
            runs = b"".join(varint(d) + varint(len(list(g))) for d, g in itertools.groupby(digits))
            self.table([{"name": "r", "kind": "radix", "labels": labels, "digits": group, "bytes": width, "blob": "r", "xz": True},
                        {"name": "b", "kind": "bytes", "labels": labels, "blob": "b", "xz": False},
                        {"name": "u", "kind": "runs", "labels": labels, "blob": "u", "xz": False}],
                       [[labels[d] for d in digits]] * 3, {"r": lzma.compress(radix(digits, k, group, width)), "b": bytes(digits), "u": runs})

    def test_texts(self):
        cells = ["", "\"a, b\"".replace(",", ""), "\u00e4\u00f6", "\u00e4\u00fc", "x" * 300, "x" * 299 + "y"]
        raw, shared, rest = [c.encode() for c in cells], b"", b""
        last = b""
        for c in raw:
            n = len(os.path.commonprefix([last, c]))
            n = min(n, 255)
            shared, rest, last = shared + bytes([n]), rest + c[n:] + b"\n", c
        hexes = ["id-%02x%02x" % (self.rng.randrange(256), self.rng.randrange(256)) for _ in cells]
        digits = [int(ch, 16) for h in hexes for ch in h[3:]]
        self.table([{"name": "t", "kind": "text", "blob": "t", "xz": False},
                    {"name": "f", "kind": "front", "blob": "f", "xz": False},
                    {"name": "p", "kind": "repeat", "period": 4, "blob": "p", "xz": False},
                    {"name": "c", "kind": "chars", "mask": "id-0000", "slots": [3, 4, 5, 6], "alphabet": "0123456789abcdef", "digits": 2, "bytes": 1,
                     "blob": "c", "xz": False}],
                   [cells, cells, list("abcdab"), hexes],
                   {"t": b"".join(c + b"\n" for c in raw), "f": shared + rest, "p": b"a\nb\nc\nd\n", "c": radix(digits, 16, 2, 1)})

    def test_unknown_kinds_have_their_name_in_the_error(self):
        with self.assertRaisesRegex(ValueError, "spiral"):
            splits.unpack_column({"name": "a", "kind": "spiral", "blob": "b", "xz": False}, 1, lambda c: b"")
        with self.assertRaisesRegex(ValueError, "novel"):
            splits.unpack_split({"form": "novel"}, None)


class InTheSession(Case):
    def split(self, content, digest_of=None):
        return {"path": "data/folds.csv", "sha256": hashlib.sha256(digest_of or content).hexdigest(), "bytes": len(content), "rows": 2, "form": "raw",
                "blob": "_sandglass/splits/0", "xz": False}

    def test_the_file_is_there(self):
        content = b"id,fold\n1,0\n2,1\n"
        ran = self.session({"jobs": [job(cmd="cp data/folds.csv subs/", folds=None)]}, {"_sandglass/splits/0": content}, splits=[self.split(content)])
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual(self.read("subs/folds.csv"), content.decode())

    def test_another_digest_stops_it(self):
        ran = self.session({}, {"_sandglass/splits/0": b"id,fold\n1,0\n"}, splits=[self.split(b"id,fold\n1,0\n", b"other")])
        self.assertNotEqual(ran.code, 0)
        self.assertIn("data/folds.csv", ran.findings["splits-differ"])
        self.assertFalse(os.listdir(os.path.join(self.working, "artifacts")))

    def test_a_lost_blob_stops_it(self):
        ran = self.session({}, {}, splits=[self.split(b"id,fold\n1,0\n")])
        self.assertIn("splits-differ", ran.findings)

    def mounted(self, content):
        return {"path": "data/folds.csv", "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "rows": 2, "form": "mounted",
                "from": "sam-roe/splits"}

    def test_a_dataset_may_hold_the_file(self):
        content = b"id,fold\n1,0\n2,1\n"
        for mount in ("input/datasets/sam-roe/splits/folds.csv", "input/datasets/sam-roe/splits/data/folds.csv", "input/splits/a/b/folds.csv"):
            with self.subTest(mount):
                shutil.rmtree(self.input)
                self.put(mount, content.decode())
                ran = self.session({"jobs": [job(cmd="cp data/folds.csv subs/", folds=None)],
                                    "inputs": [{"kind": "dataset", "ref": "sam-roe/splits", "target": None}] if "data/" in mount else []},
                                   splits=[self.mounted(content)])
                self.assertEqual(ran.code, 0, ran.output)
                self.assertEqual(self.read("subs/folds.csv"), content.decode())
                self.assertTrue(os.path.islink(os.path.join(self.scratch, "data/folds.csv")))

    def test_another_file_in_the_dataset_stops_it(self):
        self.put("input/datasets/sam-roe/splits/folds.csv", "id,fold\n1,1\n2,0\n")
        ran = self.session(splits=[self.mounted(b"id,fold\n1,0\n2,1\n")])
        self.assertNotEqual(ran.code, 0)
        self.assertIn("not the one that this session was built with", ran.findings["splits-differ"])
        self.assertFalse(os.listdir(os.path.join(self.working, "artifacts")))

    def test_a_dataset_without_the_file_stops_it(self):
        self.put("input/datasets/sam-roe/splits/other.csv", "x")
        self.assertIn("has no folds.csv", self.session(splits=[self.mounted(b"x")]).findings["splits-differ"])

    def test_a_dataset_that_is_not_there_stops_it_even_when_inputs_may_be_missing(self):
        ran = self.session({"allow_missing_inputs": True}, splits=[self.mounted(b"x")])
        self.assertIn("sam-roe/splits, which is not mounted", ran.findings["splits-differ"])


if __name__ == "__main__":
    unittest.main()
