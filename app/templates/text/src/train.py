"""Texts in classes: a transformer, one fold a process.

    python src/train.py --name idea --folds 0          train fold 0 of data/folds.csv
    python src/train.py --name idea --folds 0 --smoke  one epoch of two batches, to see that everything is there
    python src/train.py --name idea --assemble         join the folds: artifacts/idea/score.json, subs/idea.csv
    python src/train.py --name idea --bench            waiting for texts, or computing? which batch fits?

--backbone tiny is a small transformer of our own over hashed words. Any other name, or the folder of an attached model,
is Hugging Face's. auto: distilbert-base-uncased when transformers and its weights are there, otherwise tiny, and it says
which. Every text has the same length in tokens, --max-len, because a TPU compiles a graph for every shape it meets.
"""

import re
import zlib

import torch
from torch import nn

import neural
from common import accuracy, arguments, join_folds, np, os, read_csv, read_train, run, write_csv


class Words:
    """Hashed words: no vocabulary to make or to carry. 0 is padding."""

    def __init__(self, buckets=4096):
        self.buckets = buckets

    def __call__(self, text, length):
        words = re.findall(r"\w+|[^\w\s]", text.lower())[:length]
        ids = [1 + zlib.crc32(w.encode("utf-8")) % (self.buckets - 1) for w in words] or [1]
        ids = np.array(ids + [0] * (length - len(ids)), dtype=np.int64)
        return ids, (ids != 0).astype(np.int64)


class Tiny(nn.Module):
    """Two encoder layers of width 64 and a mean over the words."""

    def __init__(self, classes, buckets, length):
        super().__init__()
        self.words, self.places = nn.Embedding(buckets, 64, padding_idx=0), nn.Parameter(torch.zeros(length, 64))
        layer = nn.TransformerEncoderLayer(64, 4, dim_feedforward=128, dropout=0.1, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(64, classes)

    def forward(self, ids, mask):
        x = self.body(self.words(ids) + self.places, src_key_padding_mask=mask == 0)
        keep = mask.unsqueeze(2).to(x.dtype)
        return self.head((x * keep).sum(dim=1) / keep.sum(dim=1))


class Encoder(nn.Module):
    """A Hugging Face encoder, the mean over its tokens and a linear head."""

    def __init__(self, name, classes):
        super().__init__()
        from transformers import AutoModel
        self.body = AutoModel.from_pretrained(name)
        self.head = nn.Linear(self.body.config.hidden_size, classes)

    def forward(self, ids, mask):
        x = self.body(input_ids=ids, attention_mask=mask).last_hidden_state
        keep = mask.unsqueeze(2).to(x.dtype)
        return self.head((x * keep).sum(dim=1) / keep.sum(dim=1))


class Tokens:
    """The tokenizer that belongs to an encoder."""

    def __init__(self, name):
        from transformers import AutoTokenizer
        self.tokenizer = AutoTokenizer.from_pretrained(name)

    def __call__(self, text, length):
        out = self.tokenizer(text, truncation=True, max_length=length, padding="max_length")
        return np.array(out["input_ids"], dtype=np.int64), np.array(out["attention_mask"], dtype=np.int64)


class Texts:
    """The task, as neural.train_fold wants it."""

    score = staticmethod(accuracy)

    def __init__(self, args):
        rows, self.folds = read_train()
        self.texts, self.length = [r["text"] for r in rows], args.max_len
        self.labels = sorted({r["label"] for r in rows})
        self.target = np.array([self.labels.index(r["label"]) for r in rows], dtype=np.int64)
        self.classes = len(self.labels)
        self.tests = read_csv("data/test.csv") if os.path.exists("data/test.csv") else []
        self.test, self.tokens = len(self.tests), None

    def model(self, args):
        if args.backbone == "auto":
            try:
                self.tokens, model = Tokens("distilbert-base-uncased"), Encoder("distilbert-base-uncased", self.classes)
                args.backbone = "distilbert-base-uncased"
                return model
            except Exception as e:  # transformers is not there, or the weights are not to be had
                print("no distilbert-base-uncased (%s): the tiny transformer takes its place" % e, flush=True)
                args.backbone = "tiny"
        if args.backbone == "tiny":
            self.tokens = Words()
            return Tiny(self.classes, self.tokens.buckets, self.length)
        self.tokens = Tokens(args.backbone)
        return Encoder(args.backbone, self.classes)

    def groups(self, model, lr):
        """Trained weights learn at a fiftieth of a new network's rate."""
        body, head = list(model.body.parameters()), [p for n, p in model.named_parameters() if not n.startswith("body.")]
        return [{"params": body, "lr": lr if isinstance(model, Tiny) else lr / 50}, {"params": head, "lr": lr}]

    def logits(self, model, inputs):
        return model(*inputs)

    def item(self, row, rng):
        return self.tokens(self.texts[row], self.length)

    def test_item(self, row, rng):
        return self.tokens(self.tests[row]["text"], self.length)


def train_fold(args, fold):
    task = Texts(args)
    return neural.train_fold(args, fold, task, np.flatnonzero(task.folds != fold), np.flatnonzero(task.folds == fold))


def bench(args, fold):
    task = Texts(args)
    neural.bench(args, fold, task, np.flatnonzero(task.folds != fold))


def assemble(args):
    task = Texts(args)
    test = join_folds(args, task.target, task.folds, "accuracy", accuracy)
    if test is not None:
        write_csv("subs/%s.csv" % args.name, ["id", "label"], [(r["id"], task.labels[int(p.argmax())]) for r, p in zip(task.tests, test)])


def flags(p):
    neural.flags(p, batch_size=32, lr=1e-3)
    p.add_argument("--backbone", default="auto", help="tiny, auto, a name of Hugging Face's, or the folder of an attached model")
    p.add_argument("--max-len", type=int, default=48, help="tokens of every text")


if __name__ == "__main__":
    run(arguments(__doc__.splitlines()[0], epochs=6, more=flags), train_fold, assemble, bench)
