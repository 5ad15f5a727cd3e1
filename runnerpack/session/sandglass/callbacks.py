"""TrainBudget inside somebody else's loop: LightGBM, XGBoost, CatBoost, Lightning, Keras, Hugging Face.

Stop has callbacks that only stop in time: those of a Deadline. Watch's also draw the learning curve, prune a fold that
trails the baseline, and save on the way:

    budget = TrainBudget("artifacts/idea", fold=0, epochs=points(2000, every=50))
    watch = Watch(budget, metric="auc", every=50, save=lambda booster: save_booster(booster, "fold0_resume.ubj"))
    booster = xgboost.train(params, train, 2000, evals=[(valid, "valid")], callbacks=[watch.xgboost()])
    if watch.verdict == "continue":
        ...                                  # predictions, weights
    watch.finish()                           # the status file: done, timeout or pruned

No framework is imported before its method is called.
"""

import math
import os


class Stop:
    """Callbacks that only stop in time; Deadline.lightgbm() and the others are these.

        deadline = Deadline()
        booster = lightgbm.train(params, data, 2000, callbacks=[deadline.lightgbm()])
        if deadline.stopped:
            ...                              # the model so far is kept: save it
    """

    def __init__(self, deadline):
        self.deadline = deadline

    def late(self):
        """After a round: True when the next would not fit."""
        self.deadline.step()
        return self.deadline.should_stop()

    def lightgbm(self):
        """For lightgbm.train(callbacks=...): ends the boosting, the model so far is kept."""
        def callback(env):
            if self.late():
                from lightgbm.callback import EarlyStopException
                raise EarlyStopException(env.iteration, env.evaluation_result_list)
        callback.order = 40
        return callback

    def xgboost(self):
        """For xgboost.train(callbacks=...)."""
        from xgboost.callback import TrainingCallback
        stop = self

        class StopInTime(TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                return stop.late()

        return StopInTime()

    def catboost(self):
        """For model.fit(callbacks=...)."""
        stop = self

        class StopInTime:
            def after_iteration(self, info):
                return not stop.late()  # CatBoost stops on False

        return StopInTime()

    def lightning(self):
        """For Trainer(callbacks=...): stops between two batches."""
        stop = self

        class StopInTime(lightning_callback()):
            def on_train_batch_end(self, trainer, *args, **kwargs):
                if stop.late():
                    trainer.should_stop = True

        return StopInTime()

    def keras(self):
        """For model.fit(callbacks=...): stops between two batches."""
        stop = self

        class StopInTime(keras_callback()):
            def on_train_batch_end(self, batch, logs=None):
                if stop.late():
                    self.model.stop_training = True

        return StopInTime()

    def transformers(self):
        """For Trainer(callbacks=...): saves a checkpoint and stops between two steps."""
        from transformers import TrainerCallback
        stop = self

        class StopInTime(TrainerCallback):
            def on_step_end(self, args, state, control, **kwargs):
                if stop.late():
                    control.should_save = control.should_training_stop = True

        return StopInTime()


def lightning_callback():
    """The base class of Lightning's callbacks, under its new name or its old one."""
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback
    return Callback


def keras_callback():
    """The base class of Keras's callbacks, on its own or within TensorFlow."""
    try:
        from keras.callbacks import Callback
    except ImportError:
        from tensorflow.keras.callbacks import Callback
    return Callback


def points(rounds, every):
    """How many curve points `rounds` boosting rounds give: what TrainBudget calls epochs."""
    return max(1, -(-int(rounds) // int(every)))


class Watch:
    """Turns a framework's rounds or epochs into epochs of one TrainBudget.

    budget  a TrainBudget; its epochs count curve points (see points())
    metric  name of the score, as the framework calls it: "auc", "val_accuracy", "eval_f1". With several validation sets
            ("valid", "auc"). None takes the last one reported, as early stopping does.
    every   boosting: rounds a curve point. A point rewrites a small file, so thousands of rounds want 10 to 100.
    save    called with the booster (LightGBM, XGBoost), the model (Keras) or the trainer (Lightning) whenever the state
            must be saved: every save_every minutes of the budget, and before a stop in time. Hugging Face saves by
            itself; CatBoost shows no model while it fits, use its snapshot_file.

    verdict  "continue", "timeout" or "prune", for after fit()
    """

    def __init__(self, budget, metric=None, every=1, save=None):
        self.budget, self.metric, self.every, self.save = budget, metric, max(1, int(every)), save
        self.verdict, self.rounds = "continue", 0
        self._epoch, self._epoch_best = None, None

    # -- what all frameworks share

    def finish(self, **info):
        """Writes the fold's status. Call it last, when predictions or checkpoint are on disk."""
        if self.verdict == "timeout":
            self.budget.write_status("timeout", **dict({"next_epoch": self.budget.next_epoch}, **info))
        elif self.verdict == "prune":
            self.budget.write_status("pruned", **dict({"epoch": max(0, self.budget.next_epoch - 1)}, **info))
        else:
            self.budget.write_status("done", **info)

    def _save(self, what):
        if self.save is not None and what is not None:
            self.save(what)
        self.budget.saved()

    def _step(self, what=None):
        """After a batch or a round. True when time is up."""
        if self.verdict == "continue" and self.budget.tick():
            near = self.budget.asked == "deadline"
            self._save(what)
            if near:
                self.verdict = "timeout"
        return self.verdict != "continue"

    def _score(self, epoch, score, what=None):
        """Records a score of this epoch; of several in one epoch the best counts. True when training must stop."""
        if score is None or not math.isfinite(score):
            score = math.nan
        elif epoch == self._epoch and self._epoch_best is not None:
            score = (max if self.budget.greater_is_better else min)(score, self._epoch_best)
        self._epoch, self._epoch_best = epoch, None if math.isnan(score) else score
        verdict = self.budget.end_epoch(epoch, score)
        if self.verdict == "continue" and verdict != "continue":
            self.verdict = verdict
            if verdict == "timeout":
                self._save(what)
        self.budget.start_epoch()
        return self.verdict != "continue"

    def _round(self, number, score, what=None):
        """After boosting round `number`, counted from 0. True when boosting must stop."""
        self.rounds = number + 1
        stop = self._step(what)
        if self.rounds % self.every == 0:
            stop = self._score(self.rounds // self.every - 1, score, what) or stop
        return stop

    def _pick(self, found):
        """The score among [(set, metric, value)], or None."""
        for data, name, value in reversed(found):
            if self.metric is None or self.metric in (name, (data, name), "%s-%s" % (data, name)):
                return float(value)
        if self.metric is not None and found:
            raise KeyError("there is no metric %r among %s" % (self.metric, sorted({"%s-%s" % f[:2] for f in found})))
        return None

    # -- boosting

    def lightgbm(self):
        """For lightgbm.train(callbacks=[watch.lightgbm()]) and the scikit-learn classes' fit."""
        from lightgbm.callback import EarlyStopException

        def callback(env):
            if env.iteration == env.begin_iteration:
                self.budget.start_epoch()
            results = env.evaluation_result_list or []
            if self._round(env.iteration, self._pick([(r[0], r[1], r[2]) for r in results]), env.model):
                raise EarlyStopException(env.iteration, results)

        callback.order = 40
        return callback

    def xgboost(self):
        """For xgboost.train(callbacks=[watch.xgboost()]), and callbacks= of the scikit-learn classes."""
        from xgboost.callback import TrainingCallback
        watch = self

        class Watching(TrainingCallback):
            def before_training(self, model):
                watch.budget.start_epoch()
                return model

            def after_iteration(self, model, epoch, evals_log):
                # Continued from an earlier booster (xgb_model=) `epoch` starts at 0 again: the booster knows better.
                count = getattr(model, "num_boosted_rounds", None)
                number = count() - 1 if count else epoch
                found = [(data, name, values[-1][0] if isinstance(values[-1], tuple) else values[-1])
                         for data, metrics in evals_log.items() for name, values in metrics.items()]
                return watch._round(number, watch._pick(found), model)

        return Watching()

    def catboost(self):
        """For model.fit(callbacks=[watch.catboost()]). CatBoost takes callbacks on the CPU only; on a GPU fit in
        pieces with init_model and ask a Deadline between them."""
        watch = self

        class Watching:
            def after_iteration(self, info):
                if info.iteration == 1:  # CatBoost counts from 1
                    watch.budget.start_epoch()
                metrics = info.metrics or {}
                found = [(data, name, values[-1]) for data, by_name in metrics.items() if data != "learn" for name, values in by_name.items()]
                return not watch._round(info.iteration - 1, watch._pick(found))

        return Watching()

    # -- neural networks

    def lightning(self):
        """For Trainer(callbacks=[watch.lightning()]); metric is a name the module logs in validation."""
        watch = self

        class Watching(lightning_callback()):
            def on_train_epoch_start(self, trainer, pl_module):
                watch.budget.start_epoch()

            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *more):
                if watch._step(trainer):
                    trainer.should_stop = True

            def on_validation_end(self, trainer, pl_module):
                if getattr(trainer, "sanity_checking", False) or watch.verdict != "continue":
                    return
                score = watch._pick([("val", name, value) for name, value in trainer.callback_metrics.items()])
                if watch._score(trainer.current_epoch, score, trainer):
                    trainer.should_stop = True

        return Watching()

    def keras(self):
        """For model.fit(callbacks=[watch.keras()]); resume with initial_epoch=budget.next_epoch."""
        watch = self

        class Watching(keras_callback()):
            def on_epoch_begin(self, epoch, logs=None):
                watch.budget.start_epoch()

            def on_train_batch_end(self, batch, logs=None):
                if watch._step(self.model):
                    self.model.stop_training = True

            def on_epoch_end(self, epoch, logs=None):
                if watch.verdict != "continue":
                    return  # cut off inside the epoch: what was measured is not a whole epoch's score
                score = watch._pick([("val", name, value) for name, value in (logs or {}).items()])
                if watch._score(epoch, score, self.model):
                    self.model.stop_training = True

        return Watching()

    def transformers(self):
        """For Trainer(callbacks=[watch.transformers()]); metric like "eval_f1". Resume with
        trainer.train(resume_from_checkpoint=True); keep save_total_limit small."""
        from transformers import TrainerCallback
        watch = self

        class Watching(TrainerCallback):
            def on_epoch_begin(self, args, state, control, **kwargs):
                watch.budget.start_epoch()

            def on_step_end(self, args, state, control, **kwargs):
                before = watch.budget.last_save
                if watch._step():
                    control.should_training_stop = True
                if watch.budget.last_save != before:
                    control.should_save = True

            def on_evaluate(self, args, state, control, metrics=None, **kwargs):
                if watch.verdict != "continue" or not state.epoch:
                    return
                score = watch._pick([("eval", name, value) for name, value in (metrics or {}).items()
                                     if watch.metric is not None or name == "eval_loss"])
                epoch = max(0, int(math.ceil(state.epoch - 1e-6)) - 1)
                if watch._score(epoch, score):
                    control.should_training_stop = True
                    control.should_save = control.should_save or watch.verdict == "timeout"

        return Watching()


def save_booster(booster, path):
    """Saves an XGBoost or LightGBM booster whole or not at all. XGBoost takes the format from the end of the name
    (.ubj, .json), so the temporary file keeps it."""
    stem, ending = os.path.splitext(os.fspath(path))
    tmp = "%s.tmp%d%s" % (stem, os.getpid(), ending)
    try:
        booster.save_model(tmp)
        os.replace(tmp, path)
    finally:
        if os.path.exists(tmp):
            os.unlink(tmp)
