"""Pictures in classes: a convolutional network, one fold a process.

    python src/train.py --name idea --folds 0          train fold 0 of data/folds.csv
    python src/train.py --name idea --folds 0 --smoke  one epoch of two batches, to see that everything is there
    python src/train.py --name idea --assemble         join the folds: artifacts/idea/score.json, subs/idea.csv
    python src/train.py --name idea --bench            waiting for pictures, or computing? which batch fits?

--backbone tiny is a small network of our own. Any other name is timm's, with weights from the network or from the
attached file --weights. auto: timm's resnet18 when timm and its weights are there, otherwise tiny, and it says which.
"""

import torch
from torch import nn

import neural
from common import accuracy, arguments, join_folds, np, os, read_csv, read_train, run, write_csv
from pictures import augment, load, tensor


class Tiny(nn.Module):
    """Three stages of convolutions and a linear head: some 60,000 weights."""

    def __init__(self, classes):
        super().__init__()
        stages, before = [], 3
        for width in (24, 48, 96):
            stages += [nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
            before = width
        self.body, self.head = nn.Sequential(*stages), nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))


def timm_model(args, classes):
    import timm
    if not args.weights:
        return timm.create_model(args.backbone, pretrained=not args.no_pretrained, num_classes=classes)
    model = timm.create_model(args.backbone, pretrained=False, num_classes=classes)
    state = torch.load(args.weights, map_location="cpu")
    kept = {k: v for k, v in state.items() if k in model.state_dict() and v.shape == model.state_dict()[k].shape}
    model.load_state_dict(kept, strict=False)
    print("%s: %d of %d tensors taken" % (args.weights, len(kept), len(state)), flush=True)
    return model


class Pictures:
    """The task, as neural.train_fold wants it."""

    score = staticmethod(accuracy)

    def __init__(self, args):
        rows, self.folds = read_train()
        self.names, self.size = [r["id"] for r in rows], args.img_size
        self.labels = sorted({r["label"] for r in rows})
        self.target = np.array([self.labels.index(r["label"]) for r in rows], dtype=np.int64)
        self.classes = len(self.labels)
        self.tests = [r["id"] for r in read_csv("data/test.csv")] if os.path.exists("data/test.csv") else []
        self.test, self.folders = len(self.tests), args.images

    def model(self, args):
        if args.backbone == "auto":
            try:
                args.backbone = "resnet18"
                return timm_model(args, self.classes)
            except Exception as e:  # timm is not there, or its weights are not to be had
                print("no timm resnet18 (%s): the tiny network takes its place" % e, flush=True)
                args.backbone = "tiny"
        return Tiny(self.classes) if args.backbone == "tiny" else timm_model(args, self.classes)

    def groups(self, model, lr):
        """Trained weights learn at a tenth of a new head's rate."""
        if isinstance(model, Tiny):
            return [{"params": list(model.parameters()), "lr": lr}]
        head = {id(p) for p in model.get_classifier().parameters()}
        return [{"params": [p for p in model.parameters() if id(p) not in head], "lr": lr / 10},
                {"params": [p for p in model.parameters() if id(p) in head], "lr": lr}]

    def logits(self, model, inputs):
        x = inputs[0]
        if model.training:
            return model(x)
        return (model(x) + model(x.flip(3))) / 2  # a picture and its mirror image

    def item(self, row, rng):
        picture = load(self.names[row], self.size, self.folders)
        return (tensor(augment(picture, rng) if rng is not None else picture),)

    def test_item(self, row, rng):
        return (tensor(load(self.tests[row], self.size, self.folders)),)


def train_fold(args, fold):
    task = Pictures(args)
    return neural.train_fold(args, fold, task, np.flatnonzero(task.folds != fold), np.flatnonzero(task.folds == fold))


def bench(args, fold):
    task = Pictures(args)
    neural.bench(args, fold, task, np.flatnonzero(task.folds != fold))


def assemble(args):
    task = Pictures(args)
    test = join_folds(args, task.target, task.folds, "accuracy", accuracy)
    if test is not None:
        write_csv("subs/%s.csv" % args.name, ["id", "label"], [(name, task.labels[int(p.argmax())]) for name, p in zip(task.tests, test)])


def flags(p):
    neural.flags(p, batch_size=32, lr=2e-3)
    p.add_argument("--backbone", default="auto", help="tiny, auto, or a name of timm's; those like --img-size 224")
    p.add_argument("--weights", help="file with timm weights, for a session without internet")
    p.add_argument("--no-pretrained", action="store_true")
    p.add_argument("--img-size", type=int, default=32)
    p.add_argument("--images", nargs="+", default=["data", "data/images", "data/train", "data/test"], help="folders with the pictures")


if __name__ == "__main__":
    run(arguments(__doc__.splitlines()[0], epochs=8, more=flags), train_fold, assemble, bench)
