"""TrainBudget and Deadline, with a clock of their own."""

import json
import math
import os
import subprocess
import sys
import unittest

from harness import SESSION, Case
from sandglass.atomic import replacing
from sandglass.budget import Deadline, TrainBudget


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Budget(Case):
    def setUp(self):
        super().setUp()
        self.clock = Clock()

    def budget(self, epochs=10, **options):
        env = {k: str(v) for k, v in options.pop("env", {}).items()}
        return TrainBudget(self.dir, 0, epochs, env=env, clock=self.clock, **options)

    def epoch(self, budget, number, score=0.5, seconds=10.0):
        budget.start_epoch()
        self.clock.now += seconds
        return budget.end_epoch(number, score)

    def curve(self, scores, epochs=None):
        folder = os.path.join(self.dir, "baseline")
        os.makedirs(folder, exist_ok=True)
        points = [{"epoch": e, "score": s, "seconds": 1} for e, s in enumerate(scores)]
        with open(os.path.join(folder, "curve_fold0.json"), "w") as f:
            json.dump(dict({"fold": 0, "greater_is_better": True, "points": points}, **({"epochs": epochs} if epochs else {})), f)
        return folder

    def saved_curve(self):
        with open(os.path.join(self.dir, "curve_fold0.json")) as f:
            return json.load(f)

    def test_without_limits_it_goes_on(self):
        b = self.budget(3)
        self.assertEqual([self.epoch(b, e) for e in range(3)], ["continue"] * 3)
        self.assertEqual(self.saved_curve()["points"][1], {"epoch": 1, "score": 0.5, "seconds": 10.0})

    def test_timeout_when_the_next_epoch_does_not_fit(self):
        for left, want in ((71.5 + 10 - 0.1, "timeout"), (71.5 + 10 + 0.1, "continue")):
            self.clock.now = 1000.0
            self.assertEqual(self.epoch(self.budget(env={"KG_DEADLINE": 1000 + left}), 0), want)

    def test_the_reserve_is_kept_for_the_last_epoch(self):
        for left, want in ((611.5 + 10 - 0.1, "timeout"), (611.5 + 10 + 0.1, "continue")):
            self.clock.now = 1000.0
            self.assertEqual(self.epoch(self.budget(2, env={"KG_DEADLINE": 1000 + left}), 0), want)

    def test_a_short_session_has_a_short_reserve(self):
        b = self.budget(env={"KG_DEADLINE": 1000 + 10 + 11.5 + 18 + 0.1, "KG_RESERVE_S": 18})
        self.assertEqual(self.epoch(b, 0), "continue")

    def test_the_last_epoch_is_never_a_timeout(self):
        self.assertEqual(self.epoch(self.budget(1, env={"KG_DEADLINE": 0}), 0), "continue")

    def test_pruning(self):
        env = {"KG_PRUNE_BASELINE": self.curve([0.5, 0.625] + [0.75] * 8), "KG_PRUNE_MARGIN": 0.25}
        b = self.budget(env=env)
        self.assertEqual([self.epoch(b, e, 0.1) for e in range(3)], ["continue", "continue", "prune"])
        b = self.budget(env=env, start_epoch=0)
        self.assertEqual([self.epoch(b, e, 0.5) for e in range(9)], ["continue"] * 9)  # trails by exactly the margin

    def test_pruning_compares_at_the_same_share_of_the_schedule(self):
        env = {"KG_PRUNE_BASELINE": self.curve([0.5, 0.6, 0.7, 0.9], 20), "KG_PRUNE_MARGIN": 0.05, "KG_PRUNE_MIN_FRAC": 0.05}
        b = self.budget(10, env=env)
        self.assertEqual(self.epoch(b, 0, 0.56), "continue")  # against epochs 0 and 1 of 20
        self.assertEqual(self.epoch(b, 1, 0.56), "prune")

    def test_pruning_when_lower_is_better(self):
        env = {"KG_PRUNE_BASELINE": self.curve([0.5] * 4), "KG_PRUNE_MARGIN": 0.1}
        self.assertEqual([self.epoch(self.budget(4, greater_is_better=False, env=env), 1, s) for s in (0.55, 0.65)], ["continue", "prune"])

    def test_the_verdict_is_in_the_curve_until_the_next_epoch(self):
        clock = Clock()
        b = TrainBudget(self.dir, 0, 4, env={"KG_DEADLINE": "%f" % (clock.now + 100)}, clock=clock)

        def epoch(n, seconds):
            b.start_epoch()
            clock.now += seconds
            return b.end_epoch(n, 0.5)

        def told():
            with open(os.path.join(self.dir, "curve_fold0.json")) as f:
                return json.load(f).get("verdict")
        self.assertEqual((epoch(0, 1), told()), ("continue", None))
        self.assertEqual((epoch(1, 90), told()), ("timeout", "timeout"))
        self.assertEqual((epoch(2, 1), told()), ("timeout", "timeout"))
        self.assertEqual((epoch(3, 1), told()), ("continue", None))  # it went on and finished

    def test_a_fold_may_have_a_margin_of_its_own(self):
        env = {"KG_PRUNE_MARGIN": "0.1", "KG_PRUNE_MARGIN_FOLD3": "0.02"}
        self.assertEqual([TrainBudget(self.dir, k, 3, env=env).margin for k in (2, 3)], [0.1, 0.02])
        self.assertEqual(TrainBudget(self.dir, 3, 3, env={"KG_PRUNE_MARGIN_FOLD3": "0.02"}).margin, 0.02)

    def test_why_a_save_is_asked_for_can_be_seen(self):
        clock = Clock()
        b = TrainBudget(self.dir, 0, 3, env={}, clock=clock)
        b.start_epoch()
        self.assertEqual((b.tick(), b.asked), (False, None))
        clock.now += 21 * 60
        self.assertEqual((b.tick(), b.asked, b.tick()), (True, "interval", False))
        b.saved()
        self.assertEqual((b.asked, b.last_save), (None, clock.now))

    def test_no_margin_no_pruning(self):
        self.assertEqual(self.epoch(self.budget(env={"KG_PRUNE_BASELINE": self.curve([0.9] * 10)}), 5, 0.0), "continue")
        self.assertEqual(self.epoch(self.budget(env={"KG_PRUNE_BASELINE": self.dir, "KG_PRUNE_MARGIN": "x"}), 5, 0.0), "continue")

    def test_a_resumed_fold_goes_on(self):
        first = self.budget()
        self.epoch(first, 0, 0.8), self.epoch(first, 1, 0.7)
        again = self.budget()
        self.assertEqual((again.best, again.next_epoch, len(again.points)), (0.8, 2, 2))
        self.epoch(again, 2, 0.75)
        self.assertEqual([p["epoch"] for p in self.saved_curve()["points"]], [0, 1, 2])

    def test_a_restarted_fold_forgets_the_old_best(self):
        self.epoch(self.budget(), 0, 0.99)
        again = self.budget()
        self.epoch(again, 0, 0.6)
        self.assertEqual(again.best, 0.6)
        self.assertIsNone(self.budget(start_epoch=0).best)

    def test_a_broken_curve_is_no_curve(self):
        self.put("curve_fold0.json", '{"points": [1, {"epoch": "x"}')
        self.assertEqual(self.budget().points, [])

    def test_a_score_that_is_no_number_is_left_out(self):
        b = self.budget()
        self.epoch(b, 0, math.nan)
        self.epoch(b, 1, 0.4)
        b.write_status("done", loss=math.inf)
        self.assertEqual([p["epoch"] for p in self.saved_curve()["points"]], [1])
        with open(os.path.join(self.dir, "fold0_status.json")) as f:
            status = json.load(f)
        self.assertEqual((status["status"], status["best"], status["loss"], status["epochs_run"]), ("done", 0.4, None, 1))

    def test_tick_asks_once_before_the_deadline_even_in_the_first_epoch(self):
        b = self.budget(env={"KG_DEADLINE": 1300})
        b.start_epoch()
        asked = []
        for _ in range(30):
            self.clock.now += 10
            if b.tick():
                asked.append(self.clock.now)
                b.saved()
        self.assertEqual(asked, [1230.0])  # 60 s and two steps of 10 s before it

    def test_tick_asks_every_save_every_minutes(self):
        b = self.budget(save_every=1)
        b.start_epoch()
        asked = []
        for _ in range(18):
            self.clock.now += 10
            if b.tick():
                asked.append(self.clock.now)
                b.saved()
        self.assertEqual(asked, [1060.0, 1120.0, 1180.0])


class DeadlineTest(Case):
    def test_rounds_are_measured(self):
        clock = Clock()
        d = Deadline(reserve=5, env={"KG_DEADLINE": "1100"}, clock=clock)
        rounds = 0
        while not d.should_stop():
            clock.now += 10
            d.step()
            rounds += 1
        self.assertEqual(rounds, 9)  # after 90 s 11.5 + 5 s do not fit into 10
        self.assertTrue(d.stopped)

    def test_without_a_limit(self):
        d = Deadline(env={})
        self.assertEqual((d.left(), d.should_stop()), (math.inf, False))

    def test_callbacks_without_the_frameworks_cost_nothing(self):
        clock = Clock()
        d = Deadline(reserve=0, env={"KG_DEADLINE": "1000"}, clock=clock)
        clock.now += 1
        self.assertIs(d.catboost().after_iteration(None), False)
        self.assertTrue(callable(Deadline(env={}).lightgbm()))

    def test_importing_brings_nothing_big(self):
        code = "import sys; import sandglass.budget, kgkit.budget; print([m for m in ('torch','numpy','lightgbm') if m in sys.modules]," \
               " kgkit.budget.TrainBudget is sandglass.budget.TrainBudget)"
        out = subprocess.run([sys.executable, "-c", code], cwd=SESSION, stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertEqual(out.strip(), "[] True")

    def test_an_interrupted_write_keeps_the_old_file(self):
        path = self.put("state", "old")
        with self.assertRaises(RuntimeError):
            with replacing(path, "w") as f:
                f.write("half")
                raise RuntimeError
        with open(path) as f:
            self.assertEqual(f.read(), "old")
        self.assertEqual(os.listdir(self.dir).count("state"), 1)
        self.assertEqual([n for n in os.listdir(self.dir) if n.startswith("state.")], [])


if __name__ == "__main__":
    unittest.main()
