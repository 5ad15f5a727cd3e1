"""Finding and linking what Kaggle mounted: both layouts, owners, clashes, missing inputs."""

import os
import time

from harness import Case, job

ASKED = {"kind": "dataset", "ref": "sam-roe/leaf-scans", "target": None}
LOOK = {"jobs": [job(cmd="find -L data | sort > subs/data.txt; ls -ld data/* >> subs/data.txt; true", folds=None)]}


class Inputs(Case):
    def look(self, inputs=(ASKED,), **config):
        return self.session(dict(LOOK, inputs=list(inputs), **config))

    def mount(self, *paths):
        for path in paths:
            self.put("input/" + path, "content of " + path)

    def content(self, path):
        with open(os.path.join(self.scratch, path), encoding="utf-8") as f:
            return f.read()

    def found(self, path, inputs=(ASKED,), name="train.csv", **config):
        """The session ran, and data/<name> is the file at that mount."""
        ran = self.look(inputs, **config)
        self.assertEqual(ran.code, 0, ran.output)
        self.assertEqual(self.content("data/" + name), "content of " + path)
        return ran

    def missing(self, *words, inputs=(ASKED,)):
        began = time.time()
        ran = self.look(inputs)
        self.assertLess(time.time() - began, 15)
        self.assertNotEqual(ran.code, 0)
        text = ran.findings["missing-input"]
        for word in words + (inputs[0]["ref"], "will not help"):
            self.assertIn(word, text)
        self.assertEqual(ran.states, {("idea", None): "not-started"})
        self.assertFalse(os.path.exists(os.path.join(self.working, "subs/data.txt")))
        return text

    def test_old_layout(self):
        self.mount("leaf-scans/train.csv")
        self.found("leaf-scans/train.csv")

    def test_new_layout(self):
        self.mount("datasets/sam-roe/leaf-scans/train.csv")
        ran = self.found("datasets/sam-roe/leaf-scans/train.csv")
        self.assertEqual(ran.findings, {})
        self.assertIn("-> " + self.input, self.read("subs/data.txt"))  # a link, not a copy

    def test_the_owner_decides(self):
        self.mount("datasets/kim-poe/leaf-scans/train.csv", "datasets/sam-roe/leaf-scans/train.csv")
        self.found("datasets/sam-roe/leaf-scans/train.csv")

    def test_an_inner_folder_of_the_same_name_is_the_persons_own(self):
        self.mount("datasets/sam-roe/leaf-scans/leaf-scans/train.csv")
        self.found("datasets/sam-roe/leaf-scans/leaf-scans/train.csv", name="leaf-scans/train.csv")

    def test_another_kind_only(self):
        self.mount("competitions/leaf-cup/train.csv")
        self.missing("competitions/leaf-cup")

    def test_another_owner_only(self):
        self.mount("datasets/kim-poe/leaf-scans/train.csv")
        self.missing("datasets/kim-poe")

    def test_an_alias_of_another_owners_mount_is_not_taken(self):
        self.mount("datasets/kim-poe/leaf-scans/train.csv")
        os.symlink(os.path.join(self.input, "datasets/kim-poe/leaf-scans"), os.path.join(self.input, "leaf-scans"))
        self.missing("leaf-scans")

    def test_a_name_deep_inside_is_not_a_mount(self):
        self.mount("competitions/leaf-cup/sam-roe/leaf-scans/train.csv", "leaf-cup/leaf-scans/train.csv")
        self.missing("leaf-cup/leaf-scans", "competitions/leaf-cup")

    def test_nothing_at_all(self):
        self.missing("none at all")

    def test_no_input_folder(self):
        os.rmdir(self.input)
        self.missing("none at all")

    def test_a_huge_image_folder_is_not_walked(self):
        for i in range(2000):
            self.mount("competitions/leaf-cup/images/%d.jpg" % i)
        began = time.time()
        self.missing("competitions/leaf-cup")
        self.assertLess(time.time() - began, 8)

    def test_upper_case_and_other_kinds(self):
        self.mount("datasets/Sam-Roe/Leaf-Scans/a.csv", "competitions/leaf-cup/b.csv", "notebooks/sam-roe/older/c.csv",
                   "models/sam-roe/net/PyTorch/base/1/w.bin")
        kinds = [ASKED, {"kind": "competition", "ref": "leaf-cup"}, {"kind": "kernel", "ref": "sam-roe/older"},
                 {"kind": "model", "ref": "sam-roe/net/pytorch/base/1", "target": "data/net"}]
        ran = self.found("models/sam-roe/net/PyTorch/base/1/w.bin", kinds, name="net/w.bin")
        for name in ("a.csv", "b.csv", "c.csv"):
            self.assertIn("data/" + name, self.read("subs/data.txt"))
        self.assertEqual(ran.findings, {})

    def test_old_layout_of_the_other_kinds(self):
        self.mount("leaf-cup/b.csv", "older/c.csv", "net/pytorch/base/1/w.bin")
        kinds = [{"kind": "competition", "ref": "leaf-cup"}, {"kind": "kernel", "ref": "sam-roe/older"},
                 {"kind": "model", "ref": "sam-roe/net/pytorch/base/1", "target": "data/net"}]
        self.found("net/pytorch/base/1/w.bin", kinds, name="net/w.bin")

    def test_nested(self):
        self.mount("datasets/sam-roe/leaf-scans/train.csv", "notebooks/sam-roe/older/train.csv", "competitions/leaf-cup/train.csv")
        kinds = [{"kind": "competition", "ref": "leaf-cup"}, ASKED, {"kind": "kernel", "ref": "sam-roe/older"}]
        ran = self.found("competitions/leaf-cup/train.csv", kinds, layout="nested")
        self.assertEqual(self.content("data/ext/leaf-scans/train.csv"), "content of datasets/sam-roe/leaf-scans/train.csv")
        self.assertEqual(self.content("data/ext/kout-older/train.csv"), "content of notebooks/sam-roe/older/train.csv")
        self.assertEqual(ran.findings, {})

    def test_flat_clashes_are_told_and_the_first_wins(self):
        self.mount("competitions/leaf-cup/train.csv", "datasets/sam-roe/leaf-scans/train.csv")
        ran = self.found("competitions/leaf-cup/train.csv", [{"kind": "competition", "ref": "leaf-cup"}, ASKED])
        self.assertIn("train.csv", ran.findings["input-clash"])
        self.assertIn("sam-roe/leaf-scans", ran.findings["input-clash"])

    def test_two_inputs_for_one_target_are_joined(self):
        self.mount("datasets/sam-roe/leaf-scans/a.csv", "datasets/kim-poe/more/b.csv", "datasets/kim-poe/more/a.csv")
        items = [dict(ASKED, target="data/x"), {"kind": "dataset", "ref": "kim-poe/more", "target": "data/x"}]
        ran = self.found("datasets/sam-roe/leaf-scans/a.csv", items, name="x/a.csv")
        self.assertEqual(self.content("data/x/b.csv"), "content of datasets/kim-poe/more/b.csv")
        self.assertIn("a.csv", ran.findings["input-clash"])

    def test_the_projects_own_file_wins(self):
        self.mount("datasets/sam-roe/leaf-scans/train.csv")
        ran = self.session(dict(LOOK, inputs=[ASKED]), {"data/train.csv": "mine"})
        self.assertEqual(self.content("data/train.csv"), "mine")
        self.assertIn("input-clash", ran.findings)

    def test_a_target_outside_the_project_is_refused(self):
        self.mount("datasets/sam-roe/leaf-scans/train.csv")
        ran = self.look([dict(ASKED, target="../../elsewhere")])
        self.assertNotEqual(ran.code, 0)
        self.assertFalse(os.path.exists(os.path.join(os.path.dirname(self.dir), "elsewhere")))

    def test_going_on_without_on_request(self):
        ran = self.look(allow_missing_inputs=True)
        self.assertEqual(ran.code, 0)
        self.assertIn("missing-input", ran.findings)

    def test_a_slow_mount_is_waited_for(self):
        process = self.start(dict(LOOK, inputs=[ASKED]))
        for line in process.stdout:
            if b'"phase": "inputs"' in line:
                break
        self.mount("datasets/sam-roe/leaf-scans/train.csv")
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
