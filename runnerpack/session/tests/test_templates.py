"""The project templates, run as a person runs them: smoke, folds, assembly, bench, cut off and resumed.

numpy, scikit-learn and torch are used where they are installed; a test that needs one says so when it skips.
"""

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import time
import unittest

from harness import SESSION, Case
from warm import Warm

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(SESSION)), "app", "templates")


def have(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, "not installed: " + ", ".join(missing))


def whole(folder):
    """The content of every result in a folder, by name; statuses and curves hold times and are left out."""
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".npy") or name == "score.json":
            with open(os.path.join(folder, name), "rb") as f:
                out[name] = f.read()
    return out


@unittest.skipUnless(os.path.isdir(TEMPLATES), "the templates are not beside the session's code")
class Template(Case):
    name, imports = None, ("numpy",)  # imports: what its processes begin with

    @classmethod
    def setUpClass(cls):
        cls.warm = Warm(cls.imports)
        cls.addClassCleanup(cls.warm.close)

    def setUp(self):
        super().setUp()
        self.project = os.path.join(self.dir, "project")
        with open(os.path.join(TEMPLATES, "templates.json"), encoding="utf-8") as f:
            layers = json.load(f)[self.name]["layers"]
        for layer in layers:
            for folder, folders, names in os.walk(os.path.join(TEMPLATES, layer)):
                folders[:] = [d for d in folders if d != "__pycache__"]
                to = os.path.join(self.project, os.path.relpath(folder, os.path.join(TEMPLATES, layer)))
                os.makedirs(to, exist_ok=True)
                for n in names:
                    shutil.copy(os.path.join(folder, n), to)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KG_", "PJRT_", "SANDGLASS_"))}
        env.update(PYTHONPATH=SESSION, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
        env.update({k: str(v) for k, v in more.items()})
        return env

    def call(self, line, fails=False, env=None):
        code, text = self.warm.run(line.split(), self.project, env or self.environment(), 300)
        self.assertEqual(code != 0, fails, "%s: exit %d\n%s" % (line, code, text))
        return text

    def path(self, name):
        return os.path.join(self.project, *name.split("/"))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)


class Contract:
    """What every template with folds must do. small: flags that make a run short."""

    small, rows = "", ""

    def data(self, folds=2):
        self.call("src/make_data.py " + self.rows)
        path = self.path("data/folds.csv")
        with open(path) as f:
            lines = f.read().splitlines()
        with open(path, "w") as f:  # fewer folds, so that all of them are soon trained
            f.write("\n".join([lines[0]] + ["%s,%d" % (x.split(",")[0], int(x.split(",")[1]) % folds) for x in lines[1:]]) + "\n")

    def train(self, more, **options):
        return self.call("src/train.py %s %s" % (self.small, more), **options)

    def test_smoke_then_two_folds_then_assembly(self):
        self.assertIn("make_data.py", self.train("--folds 0", fails=True))
        self.data()
        self.train("--name idea --folds 1 --smoke")
        self.assertEqual(self.read("artifacts/idea/fold1_status.json")["smoke"], True)
        self.assertEqual(len(self.read("artifacts/idea/curve_fold1.json")["points"]), 1)
        self.assertIn("nothing to join: 0 (not trained), 1 (a smoke test)", self.train("--name idea --assemble", fails=True))
        self.train("--name idea --folds 0")
        self.assertIn("NOT all folds: without 1 (a smoke test)", self.train("--name idea --assemble"))
        self.assertEqual(list(self.read("artifacts/idea/score.json")["fold_scores"]), ["0"])
        os.unlink(self.path("artifacts/idea/score.json"))
        self.train("--name idea --folds 1", env=self.environment(KG_DEFER_ASSEMBLE=1))
        self.assertFalse(os.path.exists(self.path("artifacts/idea/score.json")))
        self.train("--name idea --assemble")
        score = self.read("artifacts/idea/score.json")
        self.assertEqual(sorted(score), ["fold_scores", "greater_is_better", "metric", "score"])
        self.assertEqual(sorted(score["fold_scores"]), ["0", "1"])
        self.assertTrue(self.floor < score["score"] <= 1, score)
        names = set(os.listdir(self.path("artifacts/idea")))
        for k in (0, 1):
            self.assertLessEqual({"fold%d_oof.npy" % k, "fold%d_idx.npy" % k, "fold%d_test.npy" % k, "fold%d_status.json" % k, "curve_fold%d.json" % k}, names)
            self.assertEqual(self.read("artifacts/idea/fold%d_status.json" % k)["status"], "done")
        self.assertFalse([n for n in names if "resume" in n or "tmp" in n])
        import numpy
        both = numpy.concatenate([numpy.load(self.path("artifacts/idea/fold%d_idx.npy" % k)) for k in (0, 1)])
        with open(self.path("data/train.csv")) as f:
            self.assertEqual(sorted(both), list(range(len(f.read().splitlines()) - 1)))
        with open(self.path("subs/idea.csv")) as f, open(self.path("data/test.csv")) as g:
            self.assertEqual([x.split(",")[0] for x in f], [x.strip().split(",")[0] for x in g])

    def test_all_folds_at_once_assemble(self):
        self.data()
        self.train("--name all --folds 0 1")
        self.assertTrue(os.path.exists(self.path("artifacts/all/score.json")))

    def test_a_timeout_is_no_error_and_the_rest_gives_the_unbroken_result(self):
        self.data()
        self.train("--name unbroken --folds 0 1")
        cut, rounds = "", 0
        for k in (0, 1):
            while rounds < 40:
                rounds += 1
                cut += self.train("--name broken --folds %d" % k, env=self.environment(KG_DEADLINE=1, KG_RESERVE_S=0, KG_DEFER_ASSEMBLE=1))
                state = self.read("artifacts/broken/fold%d_status.json" % k)
                if state["status"] == "done":
                    break
                self.assertEqual(state["status"], "timeout")
                self.assertTrue([n for n in os.listdir(self.path("artifacts/broken")) if n.startswith("fold%d_resume" % k)])
        self.assertIn("goes on at epoch 1", cut)
        self.train("--name broken --assemble")
        self.assertEqual(whole(self.path("artifacts/broken")), whole(self.path("artifacts/unbroken")))

    def test_killed_at_any_moment_and_resumed(self):
        self.data()
        began = time.monotonic()
        self.train("--name unbroken --folds 0")
        took, rng = time.monotonic() - began, random.Random(7)
        kills = 0
        for attempt in range(12):
            code, _ = self.warm.run(("src/train.py %s --name broken --folds 0 --save-every 0" % self.small).split(), self.project,
                                    self.environment(), took * rng.uniform(0.1, 1.0), kill=True)
            kills += code is None
            if os.path.exists(self.path("artifacts/broken/fold0_status.json")):
                break
        self.train("--name broken --folds 0")
        self.assertGreater(kills, 0)
        self.assertEqual(whole(self.path("artifacts/broken")), whole(self.path("artifacts/unbroken")))

    def test_pruned(self):
        self.data()
        self.put("baseline/curve_fold0.json", json.dumps({"fold": 0, "epochs": 2, "points": [{"epoch": e, "score": 2.0} for e in (0, 1)]}))
        self.train("--name weak --folds 0 1", env=self.environment(KG_PRUNE_BASELINE=os.path.join(self.dir, "baseline"), KG_PRUNE_MARGIN=0.1))
        self.assertEqual(self.read("artifacts/weak/fold0_status.json")["status"], "pruned")
        self.assertFalse(os.path.exists(self.path("artifacts/weak/fold1_status.json")))  # the rest of the process is not trained

    def test_bench(self):
        self.data()
        self.train("--name idea --bench --smoke")
        with open(self.path("reports/bench.jsonl")) as f:
            row = json.loads(f.readline())
        self.assertIn(row["verdict"], ("input-bound", "compute-bound"))
        self.assertFalse(os.listdir(self.path("artifacts/idea")))

    def test_without_the_support_package(self):
        self.data()
        env = self.environment()
        del env["PYTHONPATH"]
        # As a person starts it on a laptop, imports and all.
        subprocess.run([sys.executable, "src/train.py"] + self.small.split() + ["--name", "plain", "--folds", "0"], cwd=self.project, env=env,
                       stdout=subprocess.DEVNULL, check=True, timeout=300)
        self.assertEqual(self.read("artifacts/plain/fold0_status.json")["status"], "done")
        self.assertIn("needs the package sandglass", self.train("--bench", env=env, fails=True))


@have("numpy", "sklearn")
class Tabular(Contract, Template):
    imports = ("numpy", "sklearn.ensemble", "sklearn.linear_model")
    name, small, rows, floor = "tabular", "--epochs 3 --rounds 5", "--rows 400", 0.6


@have("numpy")
class TabularWithoutSklearn(Contract, Template):
    name, small, rows, floor = "tabular", "--epochs 3", "--rows 400", 0.6

    def setUp(self):
        super().setUp()
        with open(self.path("src/sklearn.py"), "w") as f:
            f.write("raise ImportError('hidden from this test')\n")

    def test_it_says_what_takes_its_place(self):
        self.data()
        self.assertIn("logistic regression in numpy takes its place", self.train("--folds 0 --smoke"))


@have("numpy", "torch")
class Image(Contract, Template):
    imports = ("numpy", "torch")
    name, small, rows, floor = "image", "--backbone tiny --epochs 2 --workers 0 --batch-size 16", "--pictures 90", 0.25

    def test_loader_processes_change_nothing(self):
        self.data()
        self.train("--name one --folds 0")
        self.call("src/train.py --backbone tiny --epochs 2 --workers 2 --batch-size 16 --name two --folds 0")
        self.assertEqual(whole(self.path("artifacts/one")), whole(self.path("artifacts/two")))

    def test_auto_says_what_it_takes(self):
        self.data()
        with open(self.path("src/timm.py"), "w") as f:
            f.write("def create_model(name, pretrained, num_classes):\n    raise OSError('no weights for %s here' % name)\n")
        self.assertIn("no weights for resnet18 here): the tiny network", self.call("src/train.py --folds 0 --smoke --workers 0"))

    def test_a_network_of_timm(self):
        self.data()
        with open(self.path("src/timm.py"), "w") as f:  # a stand-in with timm's documented signature
            f.write("from torch import nn\n\n\nclass Model(nn.Sequential):\n    def get_classifier(self):\n        return self[2]\n\n\n"
                    "def create_model(name, pretrained, num_classes):\n    assert (name, pretrained) == ('resnet18', True)\n"
                    "    return Model(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, num_classes))\n")
        self.assertNotIn("tiny", self.call("src/train.py --name idea --folds 0 --epochs 1 --workers 0"))
        self.assertEqual(self.read("artifacts/idea/fold0_status.json")["status"], "done")

    def test_pictures_from_files(self):
        if importlib.util.find_spec("PIL") is None:
            self.skipTest("Pillow is not installed")
        from PIL import Image as Pillow
        os.makedirs(self.path("data/images"))
        lines, folds = ["id,label"], ["id,fold"]
        for n in range(40):
            Pillow.new("RGB", (50, 40), (200, 10, 10) if n % 2 else (10, 10, 200)).save(self.path("data/images/p%d.png" % n))
            lines.append("p%d,%s" % (n, "red" if n % 2 else "blue"))
            folds.append("p%d,%d" % (n, n // 20))
        self.put("project/data/train.csv", "\n".join(lines) + "\n"), self.put("project/data/folds.csv", "\n".join(folds) + "\n")
        self.call("src/train.py --backbone tiny --epochs 3 --workers 0 --batch-size 10 --folds 0 1")
        self.assertEqual(self.read("artifacts/idea/score.json")["metric"], "accuracy")


@have("numpy", "torch")
class Text(Contract, Template):
    imports = ("numpy", "torch")
    name, small, rows, floor = "text", "--backbone tiny --epochs 2 --workers 0 --batch-size 16 --max-len 24", "--texts 90", 0.4


@have("numpy")
class Preprocess(Template):
    name = "preprocess"

    def images(self, count, side=20):
        os.makedirs(self.path("raw/sub"))
        for n in range(count):
            with open(self.path("raw/sub/p%02d.ppm" % n), "wb") as f:
                f.write(b"P6 %d %d 255\n" % (side, side) + bytes([n]) * (3 * side * side))

    def parts(self):
        return {n: os.stat(self.path("artifacts/compact/" + n)).st_mtime_ns for n in os.listdir(self.path("artifacts/compact")) if n.endswith(".npy")}

    def load(self):
        code = ("import json, sys; sys.path.insert(0, 'src')\nfrom compact import Compact\nc = Compact('artifacts/compact')\n"
                "print(json.dumps({i: [int(c[i].min()), int(c[i].max()), list(c[i].shape)] for i in c.ids}))")
        p = subprocess.run([sys.executable, "-c", code], cwd=self.project, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return json.loads(p.stdout.decode()) if p.returncode == 0 else p.stderr.decode()

    def test_made_told_and_read_back(self):
        self.images(7)
        with open(self.path("raw/broken.ppm"), "wb") as f:
            f.write(b"P6 9 9 255\nshort")
        self.assertIn("7 rows of 8 x 8 x 3 in 3 parts, 1 files could not be read", self.call("src/preprocess.py --source raw --size 8 --part-rows 3 --workers 2"))
        m = self.read("artifacts/compact/manifest.json")
        self.assertEqual((m["complete"], m["shape"], m["dtype"], m["synthetic"], [s["id"] for s in m["skipped"]]), (True, [7, 8, 8, 3], "uint8", False, ["broken"]))
        import hashlib
        for item in m["files"]:
            with open(self.path("artifacts/compact/" + item["path"]), "rb") as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), item["sha256"])
        self.assertEqual(self.load(), {"sub/p%02d" % n: [n, n, [8, 8, 3]] for n in range(7)})
        self.assertEqual(self.read("artifacts/compact/fold0_status.json")["status"], "done")

    def test_resumed_makes_only_what_is_missing(self):
        self.images(6)
        command = "src/preprocess.py --source raw --size 4 --part-rows 2 --workers 1"
        self.assertIn("NOT COMPLETE", self.call(command, env=self.environment(KG_DEADLINE=1)))
        self.assertEqual(self.read("artifacts/compact/fold0_status.json")["status"], "timeout")
        self.assertIn("is not complete", self.load())
        first = self.parts()
        self.assertEqual(list(first), ["part000.npy"])
        self.call(command)
        after = self.parts()
        self.assertEqual((sorted(after), after["part000.npy"]), (["part000.npy", "part001.npy", "part002.npy"], first["part000.npy"]))
        self.call(command.replace("--size 4", "--size 5"))  # another size is another array
        self.assertNotEqual(self.parts()["part000.npy"], first["part000.npy"])
        self.assertEqual(self.read("artifacts/compact/manifest.json")["shape"], [6, 5, 5, 3])

    def test_sizes(self):
        code = ("import sys; sys.path.insert(0, 'src')\nimport numpy as np\nfrom preprocess import resize\n"
                "a = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)\n"
                "assert (resize(a, 2) == np.rint(a.reshape(2, 2, 2, 3, 3).mean(axis=(1, 3)))).all()\n"
                "assert (resize(a[:2, :2], 4) == a[:2, :2].repeat(2, 0).repeat(2, 1)).all()\n"
                "assert resize(a, 5).shape == (5, 5, 3)\n")
        subprocess.run([sys.executable, "-c", code], cwd=self.project, env=self.environment(), check=True)

    def test_smoke_and_bench(self):
        self.call("src/preprocess.py --smoke --workers 1")
        self.assertEqual(self.read("artifacts/compact/fold0_status.json")["smoke"], True)
        self.call("src/preprocess.py --workers 1")
        m = self.read("artifacts/compact/manifest.json")
        self.assertEqual((m["synthetic"], m["shape"][0]), (True, 200))
        self.assertNotIn("smoke", self.read("artifacts/compact/fold0_status.json"))
        self.call("src/preprocess.py --bench --workers 1")
        self.assertTrue(os.path.exists(self.path("reports/bench.jsonl")))

    def test_nothing_to_read_is_an_error(self):
        self.assertIn("There is no folder data/x", self.call("src/preprocess.py --source data/x", fails=True))
        os.makedirs(self.path("raw"))
        self.assertIn("There is no picture", self.call("src/preprocess.py --source raw", fails=True))
        with open(self.path("raw/a.ppm"), "wb") as f:
            f.write(b"P6 no")
        self.assertIn("No file could be read", self.call("src/preprocess.py --source raw --workers 1", fails=True))


if __name__ == "__main__":
    unittest.main()
