"""Trains one fold of a network on whatever is there: a T4, a TPU chip, a CPU.

Precision goes by the device: fp16 with a loss scaler on a T4, where bf16 is emulated and several times slower; bf16
on newer GPUs and on a TPU, without a scaler; fp32 on a CPU. Batches have one fixed size and the last, smaller one is
left out (a TPU compiles a graph for every shape it meets).

A checkpoint holds weights, optimiser, schedule, scaler, random state and the step within the epoch, so that a fold that
was cut off anywhere goes on to the result it would have had.
"""

import contextlib
import math
import os

from common import TrainBudget, np, replace, save_fold

try:
    import torch
except ImportError:
    raise SystemExit("This project needs PyTorch (Kaggle's GPU and TPU images have it).")

try:
    from sandglass import xla
except ImportError:
    xla = None


def pick_device():
    if xla is not None and xla.available():
        return xla.device()
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Precision:
    """The number format that suits a device, and the step of the optimiser that goes with it."""

    def __init__(self, device):
        self.device, self.dtype = device, None
        if device.type == "xla":
            self.dtype = torch.bfloat16
        elif device.type == "cuda":
            # bf16 needs compute capability 8. torch.cuda.is_bf16_supported() says yes to a T4 (7.5), which emulates it.
            self.dtype = torch.bfloat16 if torch.cuda.get_device_capability(device)[0] >= 8 else torch.float16
        scaled = self.dtype is torch.float16
        if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler("cuda", enabled=scaled)
        else:
            self.scaler = torch.cuda.amp.GradScaler(enabled=scaled)

    def __str__(self):
        return "%s in %s" % (self.device, str(self.dtype or torch.float32).replace("torch.", ""))

    def autocast(self):
        return contextlib.nullcontext() if self.dtype is None else torch.autocast(self.device.type, dtype=self.dtype)

    def step(self, loss, optimizer, parameters):
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        self.scaler.step(optimizer)
        self.scaler.update()
        optimizer.zero_grad()
        if self.device.type == "xla":
            xla.sync()


class Rows(torch.utils.data.Dataset):
    """Gives item(row number, random generator or None) for the rows of a list. What is random about a row depends on
    seed, epoch and row alone, so that it is the same with any number of workers and after a resume."""

    def __init__(self, item, rows, seed=None):
        self.item, self.rows, self.seed = item, rows, seed

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        row = int(self.rows[at])
        rng = None if self.seed is None else np.random.RandomState([*self.seed, row])
        return tuple(torch.as_tensor(part) for part in self.item(row, rng))


def batches(item, rows, size, workers, seed=None):
    """Batches of exactly `size` rows. Rows that do not fill one are left out in training (with a seed); otherwise the
    last batch is filled up with its last row."""
    rows = np.asarray(rows)
    if seed is None:
        rows = np.concatenate([rows, np.repeat(rows[-1:], -len(rows) % size)])
    # A generator of its own: the loader draws from it whenever it starts, and a resumed epoch starts once more.
    return torch.utils.data.DataLoader(Rows(item, rows, seed), batch_size=size, drop_last=True, num_workers=workers,
                                       pin_memory=torch.cuda.is_available(), generator=torch.Generator().manual_seed(0))


def predict(model, precision, task, item, rows, args):
    """Class probabilities, one row each, as float32."""
    if len(rows) == 0:
        return np.zeros((0, task.classes), dtype=np.float32)
    model.eval()
    out = []
    with torch.no_grad():
        for inputs in batches(item, rows, args.batch_size, args.workers):
            inputs = [part.to(precision.device) for part in inputs]
            with precision.autocast():
                logits = task.logits(model, inputs)
            out.append(torch.softmax(logits.float(), dim=1).cpu())
    return torch.cat(out)[:len(rows)].numpy()


class Training:
    """Model, optimiser and schedule of one fold, and their checkpoint."""

    def __init__(self, args, task, fold, device, rows, batch_size):
        torch.manual_seed(1000 * args.seed + fold)
        self.precision, self.size = Precision(device), min(batch_size, rows)
        self.steps = max(1, rows // self.size)
        self.model = task.model(args).to(device)
        groups = task.groups(self.model, args.lr)
        self.optimizer = torch.optim.AdamW(groups, lr=args.lr, weight_decay=0.01)
        total = self.steps * args.epochs
        warm = max(1, int(0.1 * total))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda n: min((n + 1) / warm, 0.5 * (1 + math.cos(math.pi * min(1.0, n / total)))))
        self.parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule, "scaler": self.precision.scaler}

    def step(self, task, batch):
        inputs = [part.to(self.precision.device, non_blocking=True) for part in batch]
        with self.precision.autocast():
            loss = torch.nn.functional.cross_entropy(task.logits(self.model, inputs[:-1]).float(), inputs[-1])
        self.precision.step(loss, self.optimizer, self.model.parameters())
        self.schedule.step()
        return loss.detach()

    def save(self, path, epoch, step):
        state = {name: part.state_dict() for name, part in self.parts.items()}
        state.update(epoch=epoch, step=step, random=torch.get_rng_state())
        if self.precision.device.type == "cuda":
            state["random_cuda"] = torch.cuda.get_rng_state()
        replace(path, lambda f: torch.save(on_cpu(state), f))

    def load(self, path):
        """Goes back to a checkpoint of save(). Returns the epoch and the step to go on with."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=False)  # written by this script
        except TypeError:
            state = torch.load(path, map_location="cpu")
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        torch.set_rng_state(state["random"])
        if "random_cuda" in state and self.precision.device.type == "cuda":
            torch.cuda.set_rng_state(state["random_cuda"])
        return state["epoch"], state["step"]


def on_cpu(value):
    """A checkpoint with device tensors would open on the same kind of device only."""
    if isinstance(value, dict):
        return {k: on_cpu(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(on_cpu(v) for v in value)
    return value.detach().cpu() if torch.is_tensor(value) else value


def train_fold(args, fold, task, rows, valid):
    """Trains on rows, validates on valid (row numbers both). Returns "done", "timeout" or "pruned".

    task: classes; target (array of class numbers); model(args); groups(model, lr); logits(model, inputs);
    item(row, rng) -> inputs (random when rng is given); test (number of test rows); test_item(row, rng)
    """
    def with_target(row, rng):
        return tuple(task.item(row, rng)) + (task.target[row],)

    training = Training(args, task, fold, pick_device(), len(rows), args.batch_size)
    resume, epoch0, step0 = os.path.join(args.out, "fold%d_resume.pt" % fold), 0, 0
    if os.path.exists(resume) and not args.smoke:
        epoch0, step0 = training.load(resume)
        print("fold %d goes on at epoch %d, step %d" % (fold, epoch0, step0), flush=True)
    print("fold %d: %s, %d steps of %d an epoch" % (fold, training.precision, training.steps, training.size), flush=True)
    budget = TrainBudget(args.out, fold, args.epochs, start_epoch=epoch0, save_every=args.save_every)
    for epoch in range(epoch0, args.epochs):
        budget.start_epoch()
        seed = (args.seed, fold, epoch)
        order = np.asarray(rows)[np.random.RandomState(list(seed)).permutation(len(rows))]
        training.model.train()
        loss = None
        for step, batch in enumerate(batches(with_target, order[step0 * training.size:], training.size, args.workers, seed), step0 + 1):
            loss = training.step(task, batch)
            if budget.tick():
                training.save(resume, epoch, step)
                budget.saved()
            if args.smoke and step == 2:
                break
        step0 = 0
        checked = valid[:2 * args.batch_size] if args.smoke else valid
        score = task.score(task.target[checked], predict(training.model, training.precision, task, task.item, checked, args))
        print("fold %d epoch %2d  loss %.4f  score %.4f" % (fold, epoch + 1, math.nan if loss is None else float(loss), score), flush=True)
        verdict = budget.end_epoch(epoch, score)
        if verdict == "timeout":
            training.save(resume, epoch + 1, 0)
            budget.write_status("timeout", next_epoch=epoch + 1)
            return "timeout"
        if verdict == "prune":
            budget.write_status("pruned", epoch=epoch)
            return "pruned"
        if budget.tick():
            training.save(resume, epoch + 1, 0)
            budget.saved()
    oof = predict(training.model, training.precision, task, task.item, valid, args)
    test = predict(training.model, training.precision, task, task.test_item, np.arange(task.test), args) if task.test else None
    if not args.smoke:
        state = {"model": on_cpu(training.model.state_dict())}
        replace("%s/fold%d.pt" % (args.out, fold), lambda f: torch.save(state, f))
    save_fold(args, fold, budget, valid, oof, test)
    return "done"


def bench(args, fold, task, rows):
    """Steps of the real loop, and the memory of a half and a whole batch."""
    from common import Bench
    device = pick_device()
    b = Bench(args.name, batch_size=min(args.batch_size, len(rows)), device=device)

    def with_target(row, rng):
        return tuple(task.item(row, rng)) + (task.target[row],)

    def feed(training, count):
        order = np.resize(np.asarray(rows), count * training.size)
        return batches(with_target, order, training.size, args.workers, (args.seed, fold, 0))

    for size in sorted({max(1, args.batch_size // 2), args.batch_size}):
        training = Training(args, task, fold, device, len(rows), size)
        with b.memory(training.size):
            for batch in feed(training, 2):
                training.step(task, batch)
    steps = 4 if args.smoke else 20
    for batch in b.batches(feed(training, b.skip + steps), steps=steps):
        training.step(task, batch)
    b.note = str(training.precision)
    b.write()


def flags(p, batch_size, lr):
    p.add_argument("--batch-size", type=int, default=batch_size)
    p.add_argument("--lr", type=float, default=lr)
    p.add_argument("--workers", type=int, default=min(2, max(0, (os.cpu_count() or 1) - 1)),
                   help="processes that load data, for each task; two tasks share a T4 session's 4 cores")
