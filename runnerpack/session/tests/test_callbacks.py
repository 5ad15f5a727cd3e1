"""The callbacks: XGBoost for real where it is installed, the others against stand-ins with the documented signatures."""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import types
import unittest
from unittest import mock

from harness import SESSION, Case
from sandglass.budget import Deadline, TrainBudget
from sandglass.callbacks import Watch, points, save_booster


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def module(name, **members):
    m = types.ModuleType(name)
    m.__dict__.update(members)
    return m


@contextlib.contextmanager
def standing_in(**modules):
    """Modules that can be imported meanwhile; "__" in a name is a dot."""
    found = {}
    for name, members in modules.items():
        found[name.replace("__", ".")] = module(name.replace("__", "."), **members)
    with mock.patch.dict(sys.modules, found):
        yield


class WatchCase(Case):
    def setUp(self):
        super().setUp()
        self.clock, self.saved = Clock(), []

    def watch(self, epochs=4, env=None, **options):
        env = {k: str(v) for k, v in (env or {}).items()}
        greater = options.pop("greater", True)
        budget = TrainBudget(self.dir, 0, epochs, greater_is_better=greater, env=env, clock=self.clock)
        return Watch(budget, save=self.saved.append, **options)

    def curve(self):
        with open(os.path.join(self.dir, "curve_fold0.json")) as f:
            return [(p["epoch"], p["score"]) for p in json.load(f)["points"]]

    def status(self):
        with open(os.path.join(self.dir, "fold0_status.json")) as f:
            return json.load(f)

    def baseline(self, scores):
        folder = os.path.join(self.dir, "baseline")
        os.makedirs(folder)
        with open(os.path.join(folder, "curve_fold0.json"), "w") as f:
            json.dump({"fold": 0, "epochs": len(scores), "points": [{"epoch": e, "score": s} for e, s in enumerate(scores)]}, f)
        return {"KG_PRUNE_BASELINE": folder, "KG_PRUNE_MARGIN": 0.05}


class Documented(WatchCase):
    """Against stand-ins."""

    # -- LightGBM: a callable with .order, given a CallbackEnv, ended by EarlyStopException(best_iteration, best_score)

    def lightgbm(self, watch, rounds, score, begin=0, seconds=1.0):
        class EarlyStopException(Exception):
            def __init__(self, best_iteration, best_score):
                super().__init__()
                self.best_iteration, self.best_score = best_iteration, best_score

        with standing_in(lightgbm={}, lightgbm__callback={"EarlyStopException": EarlyStopException}):
            callback = watch.lightgbm()
            for i in range(begin, begin + rounds):
                self.clock.now += seconds
                env = types.SimpleNamespace(model="booster", iteration=i, begin_iteration=begin, end_iteration=begin + rounds,
                                            evaluation_result_list=[("train", "auc", 1.0, True), ("valid_0", "auc", score(i), True)])
                try:
                    callback(env)
                except EarlyStopException as e:
                    return e.best_iteration
        return None

    def test_lightgbm_draws_a_curve(self):
        w = self.watch(epochs=points(20, 5), metric=("valid_0", "auc"), every=5)
        self.assertIsNone(self.lightgbm(w, 20, lambda i: 0.5 + i / 100))
        w.finish()
        self.assertEqual(self.curve(), [(0, 0.54), (1, 0.59), (2, 0.64), (3, 0.69)])
        self.assertEqual((w.verdict, self.status()["status"], self.status()["best"]), ("continue", "done", 0.69))

    def test_lightgbm_continued_from_a_model(self):
        w = self.watch(epochs=4, every=5)
        self.lightgbm(w, 10, lambda i: 0.5)
        again = self.watch(epochs=4, every=5)
        self.lightgbm(again, 10, lambda i: 0.6, begin=10)
        self.assertEqual([e for e, _ in self.curve()], [0, 1, 2, 3])

    def test_lightgbm_pruned(self):
        w = self.watch(epochs=4, every=5, env=self.baseline([0.9] * 4))
        self.assertEqual(self.lightgbm(w, 20, lambda i: 0.5), 9)  # a quarter is too early, half is not
        w.finish()
        self.assertEqual((w.verdict, self.status()["status"], self.status()["epoch"]), ("prune", "pruned", 1))
        self.assertEqual(self.saved, [])

    def test_lightgbm_stopped_in_time_inside_the_first_point(self):
        w = self.watch(epochs=2, every=1000, env={"KG_DEADLINE": 1200})
        at = self.lightgbm(w, 2000, lambda i: 0.5)
        w.finish()
        self.assertEqual((w.verdict, self.saved, self.status()["status"], self.status()["next_epoch"]), ("timeout", ["booster"], "timeout", 0))
        self.assertTrue(130 < at + 1 < 140, at)  # 60 s to save and two rounds before the 200th second

    def test_a_metric_that_is_not_there_is_said(self):
        with self.assertRaisesRegex(KeyError, "no metric 'f1' among .*valid_0-auc"):
            self.lightgbm(self.watch(metric="f1"), 1, lambda i: 0.5)

    # -- CatBoost: after_iteration(info), False ends the fit; iterations count from 1

    def catboost(self, watch, rounds, score):
        callback = watch.catboost()
        for i in range(1, rounds + 1):
            self.clock.now += 1
            info = types.SimpleNamespace(iteration=i, metrics={"learn": {"AUC": [1.0] * i}, "validation": {"AUC": [score(k) for k in range(i)]}})
            if not callback.after_iteration(info):
                return i
        return None

    def test_catboost(self):
        w = self.watch(epochs=2, metric="AUC", every=5)
        self.assertIsNone(self.catboost(w, 10, lambda i: i / 10))
        self.assertEqual(self.curve(), [(0, 0.4), (1, 0.9)])
        w = self.watch(epochs=points(300, 5), every=5, env={"KG_DEADLINE": self.clock.now + 100})
        self.assertTrue(30 < self.catboost(w, 300, lambda i: 0.5) < 41)
        self.assertEqual(w.verdict, "timeout")

    # -- Lightning: hooks of Callback, trainer.should_stop, trainer.callback_metrics

    def test_lightning(self):
        with standing_in(lightning={}, lightning__pytorch={}, lightning__pytorch__callbacks={"Callback": object}):
            w = self.watch(epochs=4, metric="val_acc", env=self.baseline([0.9] * 4))
            callback = w.lightning()
        trainer = types.SimpleNamespace(should_stop=False, sanity_checking=True, current_epoch=0, callback_metrics={})
        callback.on_validation_end(trainer, None)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "curve_fold0.json")))  # the sanity check is no epoch
        trainer.sanity_checking = False
        for trainer.current_epoch in range(4):
            callback.on_train_epoch_start(trainer, None)
            callback.on_train_batch_end(trainer, None, {}, [], 0)
            for value in (0.5, 0.4):  # validated twice an epoch
                trainer.callback_metrics = {"train_loss": 3.0, "val_acc": value}
                callback.on_validation_end(trainer, None)
            if trainer.should_stop:
                break
        self.assertEqual((trainer.current_epoch, w.verdict, self.curve()), (1, "prune", [(0, 0.5), (1, 0.5)]))

    def test_lightning_by_its_older_name(self):
        with standing_in(pytorch_lightning={}, pytorch_lightning__callbacks={"Callback": object}), \
                mock.patch.dict(sys.modules, {"lightning": None, "lightning.pytorch.callbacks": None}):
            callback = self.watch(env={"KG_DEADLINE": 1010}).lightning()
        trainer = types.SimpleNamespace(should_stop=False, current_epoch=0, callback_metrics={})
        callback.on_train_epoch_start(trainer, None)
        callback.on_train_batch_end(trainer, None, {}, [], 0)
        self.assertEqual((trainer.should_stop, self.saved), (True, [trainer]))

    # -- Keras: on_epoch_begin/end, on_train_batch_end, model.stop_training

    def test_keras(self):
        with standing_in(keras={}, keras__callbacks={"Callback": object}):
            w = self.watch(epochs=3, metric="val_auc", env={"KG_DEADLINE": 1250})
            callback = w.keras()
        callback.model = types.SimpleNamespace(stop_training=False)
        seen = []
        for epoch in range(3):
            callback.on_epoch_begin(epoch)
            for batch in range(10):
                self.clock.now += 10
                callback.on_train_batch_end(batch, {"loss": 1.0})
                if callback.model.stop_training:
                    break
            callback.on_epoch_end(epoch, {"loss": 1.0, "val_auc": 0.5 + epoch / 10})
            seen.append(epoch)
            if callback.model.stop_training:
                break
        w.finish()
        self.assertEqual((seen, w.verdict, self.saved, self.curve()), ([0], "timeout", [callback.model], [(0, 0.5)]))
        self.assertEqual(self.status()["next_epoch"], 1)

    # -- Hugging Face: TrainerCallback with args, state, control

    def transformers(self, watch):
        with standing_in(transformers={"TrainerCallback": object}):
            return watch.transformers()

    def test_transformers_takes_the_best_evaluation_of_an_epoch(self):
        w = self.watch(epochs=2, metric="eval_f1")
        callback = self.transformers(w)
        state, control = types.SimpleNamespace(epoch=0.0), types.SimpleNamespace(should_save=False, should_training_stop=False)
        callback.on_epoch_begin(None, state, control)
        for state.epoch, f1 in ((0.5, 0.7), (1.0, 0.6), (1.5, 0.65), (2.0, 0.8)):
            callback.on_evaluate(None, state, control, metrics={"eval_loss": 0.1, "eval_f1": f1, "eval_runtime": 3.0, "epoch": state.epoch})
        self.assertEqual((self.curve(), control.should_training_stop), ([(0, 0.7), (1, 0.8)], False))

    def test_transformers_saves_and_stops_in_time(self):
        callback = self.transformers(self.watch(epochs=2, env={"KG_DEADLINE": 1200}))
        state, control = types.SimpleNamespace(epoch=0.1), types.SimpleNamespace(should_save=False, should_training_stop=False)
        callback.on_epoch_begin(None, state, control)
        steps = 0
        while not control.should_training_stop:
            self.clock.now += 10
            callback.on_step_end(None, state, control)
            steps += 1
        self.assertTrue(control.should_save)
        self.assertEqual(steps, 13)  # 200 s, less 60 s to save and two steps

    def test_transformers_saves_every_twenty_minutes(self):
        callback = self.transformers(self.watch(epochs=2))
        state, control = types.SimpleNamespace(epoch=0.1), types.SimpleNamespace(should_save=False, should_training_stop=False)
        callback.on_epoch_begin(None, state, control)
        saves = []
        for step in range(50):
            self.clock.now += 60
            control.should_save = False
            callback.on_step_end(None, state, control)
            saves += [step] if control.should_save else []
        self.assertEqual((saves, control.should_training_stop), ([19, 39], False))

    def test_a_deadline_alone_stops_every_framework(self):
        class EarlyStopException(Exception):
            def __init__(self, best_iteration, best_score):
                super().__init__()

        late = Deadline(env={"KG_DEADLINE": "1"})
        with standing_in(lightgbm={}, lightgbm__callback={"EarlyStopException": EarlyStopException}, keras={}, keras__callbacks={"Callback": object},
                         lightning={}, lightning__pytorch={}, lightning__pytorch__callbacks={"Callback": object}, transformers={"TrainerCallback": object}):
            with self.assertRaises(EarlyStopException):
                late.lightgbm()(types.SimpleNamespace(iteration=3, evaluation_result_list=[]))
            keras, lightning, hugging = late.keras(), late.lightning(), late.transformers()
        keras.model = types.SimpleNamespace(stop_training=False)
        keras.on_train_batch_end(0)
        trainer = types.SimpleNamespace(should_stop=False)
        lightning.on_train_batch_end(trainer, None, {}, [], 0)
        control = types.SimpleNamespace(should_save=False, should_training_stop=False)
        hugging.on_step_end(None, None, control)
        self.assertTrue(keras.model.stop_training and trainer.should_stop and control.should_save and control.should_training_stop)
        self.assertFalse(late.catboost().after_iteration(types.SimpleNamespace(iteration=1)))

    def test_nothing_is_imported_before_it_is_used(self):
        code = ("import sys, sandglass.budget, sandglass.callbacks, sandglass.bench, sandglass.xla\n"
                "print([m for m in ('torch', 'torch_xla', 'numpy', 'lightgbm', 'xgboost', 'catboost', 'keras', 'transformers', 'lightning') if m in sys.modules])")
        out = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=SESSION), stdout=subprocess.PIPE, check=True)
        self.assertEqual(out.stdout.strip(), b"[]")


@unittest.skipUnless(importlib.util.find_spec("xgboost"), "XGBoost is not installed")
class XGBoostForReal(WatchCase):
    def data(self):
        import numpy
        import xgboost
        rng = numpy.random.RandomState(0)
        x = rng.randn(400, 5)
        y = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(int)
        return xgboost.DMatrix(x[:300], y[:300]), xgboost.DMatrix(x[300:], y[300:])

    def fit(self, watch, rounds=20, **options):
        import xgboost
        train, valid = self.data()
        clock = self.clock

        class Ticking(xgboost.callback.TrainingCallback):
            def before_iteration(self, model, epoch, evals_log):
                clock.now += 10

        params = {"objective": "binary:logistic", "eval_metric": ["logloss", "auc"], "max_depth": 2, "eta": 0.1, "nthread": 1}
        return xgboost.train(params, train, rounds, evals=[(train, "train"), (valid, "valid")], verbose_eval=False,
                             callbacks=[Ticking(), watch.xgboost()], **options)

    def test_the_curve_is_the_one_xgboost_reports(self):
        w, log = self.watch(epochs=4, metric=("valid", "auc"), every=5), {}
        self.fit(w, evals_result=log)
        self.assertEqual(self.curve(), [(e, float(log["valid"]["auc"][5 * e + 4])) for e in range(4)])

    def test_time_ends_it_and_the_rest_is_trained_from_the_checkpoint(self):
        path = os.path.join(self.dir, "fold0_resume.ubj")
        w = self.watch(epochs=4, metric="auc", every=5, env={"KG_DEADLINE": 1000 + 60 + 150})
        w.save = lambda booster: save_booster(booster, path)
        first = self.fit(w)
        self.assertEqual(w.verdict, "timeout")
        self.assertTrue(5 <= first.num_boosted_rounds() < 20)
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith("fold0_resume")), ["fold0_resume.ubj"])
        import xgboost
        begun = xgboost.Booster(model_file=path)
        self.assertEqual(begun.num_boosted_rounds(), first.num_boosted_rounds())
        again = self.watch(epochs=4, metric="auc", every=5)
        whole = self.fit(again, 20 - begun.num_boosted_rounds(), xgb_model=begun)
        again.finish()
        self.assertEqual((whole.num_boosted_rounds(), [e for e, _ in self.curve()], self.status()["status"]), (20, [0, 1, 2, 3], "done"))

    def test_pruned(self):
        w = self.watch(epochs=4, metric="auc", every=5, env=self.baseline([2.0] * 4))
        self.assertEqual(self.fit(w).num_boosted_rounds(), 10)
        self.assertEqual(w.verdict, "prune")

    def test_the_deadline_alone(self):
        import xgboost
        train, _ = self.data()
        booster = xgboost.train({"nthread": 1}, train, 20, callbacks=[Deadline(env={"KG_DEADLINE": "1"}).xgboost()])
        self.assertEqual(booster.num_boosted_rounds(), 1)

    def test_the_scikit_learn_class(self):
        if not importlib.util.find_spec("sklearn"):
            self.skipTest("scikit-learn is not installed")
        import numpy
        import xgboost
        rng = numpy.random.RandomState(0)
        x = rng.randn(100, 3)
        w = self.watch(epochs=2, every=5, greater=False)
        xgboost.XGBClassifier(n_estimators=10, n_jobs=1, callbacks=[w.xgboost()]).fit(x, x[:, 0] > 0, eval_set=[(x, x[:, 0] > 0)], verbose=False)
        self.assertEqual([e for e, _ in self.curve()], [0, 1])


if __name__ == "__main__":
    unittest.main()
