"""Every storage that a training run has on its device, on a CPU that stands for the GPU.

    from tracker import Tracker
    tracker = Tracker()          # before transformers is imported
    ...                          # the stack's own entry point: it makes a Trainer and calls train()
    tracker.measured()           # {"instants": {"forward": bytes, ...}, "facts": {...}}

Storages are seen when an operation makes them (TorchDispatchMode) and leave when they die, in blocks of 512 bytes as
CUDA's allocator rounds. Tensors of less than a block (a loss, a step count, the seeds of attention) are counted apart,
as `numbers`. What a data loader makes is host memory until accelerate sends it to the device. Where a CPU would run
another kernel than a GPU, cuda_kernels.py stands in. Instants are those of the replay, each the highest moment in it:

    load, prepare           parameters once from_pretrained has returned, and once the trainer is made
    forward, loss, backward  of the second step; the loss is over when the last layer's output has its gradient
    optimizer_step_first, optimizer_step, eval
"""

import functools
import gc
import sys
import weakref
from collections.abc import Mapping

import torch
import torch.utils.checkpoint
import torch.utils.data.dataloader
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

import cuda_kernels

BLOCK = 512


def block(size):
    return (size + BLOCK - 1) // BLOCK * BLOCK


def shape_of(tensor):
    return f"{str(tensor.dtype)[6:]} {'x'.join(str(n) for n in tensor.shape)}"


class Ledger(TorchDispatchMode):
    """Storages alive, and the highest sum of each phase."""

    def __init__(self):
        super().__init__()
        self.alive, self.now, self.numbers, self.peaks, self.phase = {}, 0, 0, {}, None
        self.highest_numbers = 0
        self.live_at = {}  # phase: rows of what was alive at its peak, where asked for
        self.explain = False

    def mark(self, phase):
        self.phase = phase
        self.note()

    def note(self, extra=0):
        if self.phase is None or self.now + extra <= self.peaks.get(self.phase, -1):
            return
        self.peaks[self.phase] = self.now + extra
        if self.explain:
            self.live_at[self.phase] = [(size, what) for size, what, _ in self.alive.values()] + [(extra, "hidden")]

    def see(self, tensor, what=""):
        if tensor.device.type == "meta":
            return
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if size == 0 or key in self.alive:
            return
        small = size < BLOCK

        def die():
            if self.alive.pop(key, None) is None:
                return
            if small:
                self.numbers -= BLOCK
            else:
                self.now -= block(size)

        what = f"{what} {shape_of(tensor)} in {self.phase}" if self.explain else ""
        self.alive[key] = (0 if small else block(size), what, weakref.finalize(storage, die))
        if small:
            self.numbers += BLOCK
            self.highest_numbers = max(self.highest_numbers, self.numbers)
        else:
            self.now += block(size)
            self.note()

    def hidden(self, size):
        """What a CUDA kernel takes while it runs."""
        self.note(block(size))

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if cuda_kernels.accumulates_in_place(function, args):
            return args[0].add_(args[1])
        function = cuda_kernels.in_place_of(function)
        out = function(*args, **kwargs)
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.see(leaf, str(function))
        if function._schema.name == "aten::_softmax_backward_data":
            self.hidden(args[0].numel() * args[0].element_size())  # gradient times output
        return out


class Tracker:
    """Hooks into Trainer, accelerate and the data loader; one run."""

    def __init__(self, explain=False):
        self.ledger = Ledger()
        self.ledger.explain = explain
        self.facts = {"batches": {}, "logits": {}, "losses": [], "checkpointing": []}
        self.trainer = None
        self.step = 0
        cuda_kernels.stand_in(self.ledger)
        self.watch_torch()
        self.watch_transformers()

    # ---- PyTorch
    def watch_torch(self):
        next_batch = torch.utils.data.dataloader._BaseDataLoaderIter.__next__

        def next_on_host(loader):
            with _disable_current_modes():
                return next_batch(loader)

        torch.utils.data.dataloader._BaseDataLoaderIter.__next__ = next_on_host
        checkpoint = torch.utils.checkpoint.checkpoint

        @functools.wraps(checkpoint)
        def noted_checkpoint(function, *args, **kwargs):
            if sys._getframe(1).f_code.co_name != "_chunked_cross_entropy_loss":
                self.note_fact("checkpointing", "reentrant" if kwargs.get("use_reentrant", True) else "non-reentrant")
            return checkpoint(function, *args, **kwargs)

        torch.utils.checkpoint.checkpoint = noted_checkpoint
        cross_entropy = torch.nn.functional.cross_entropy

        @functools.wraps(cross_entropy)
        def noted_cross_entropy(logits, *args, **kwargs):
            self.note_fact("losses", f"{self.mode()}: cross_entropy of {shape_of(logits)}")
            return cross_entropy(logits, *args, **kwargs)

        torch.nn.functional.cross_entropy = noted_cross_entropy

    def note_fact(self, kind, fact):
        if fact not in self.facts[kind]:
            self.facts[kind].append(fact)

    def mode(self):
        return "eval" if self.ledger.phase == "eval" else "train"

    # ---- Transformers and accelerate
    def watch_transformers(self):
        import accelerate
        import accelerate.data_loader
        import transformers
        from transformers import PreTrainedModel, Trainer

        send = accelerate.data_loader.send_to_device

        def copy_to_device(batch, *args, **kwargs):
            batch = send(batch, *args, **kwargs)
            copied = tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, plain(batch))
            if not isinstance(copied, dict):  # samples in words (GRPO)
                return copied
            shapes = {key: shape_of(x) for key, x in copied.items() if isinstance(x, torch.Tensor)}
            if "attention_mask" in copied:
                shapes["padding"] = int((copied["attention_mask"] == 0).sum())
            seen = self.facts["batches"].setdefault(self.mode(), [])
            if shapes not in seen:
                seen.append(shapes)
            return copied

        accelerate.data_loader.send_to_device = copy_to_device
        load = PreTrainedModel.from_pretrained.__func__

        @functools.wraps(load)
        def noted_load(cls, *args, **kwargs):
            model = load(cls, *args, **kwargs)
            if "load" not in self.ledger.peaks:
                self.facts["loaded"] = parameters_of(model)
                self.ledger.peaks["load"] = bytes_of(model)
            return model

        PreTrainedModel.from_pretrained = classmethod(noted_load)
        init, train = Trainer.__init__, Trainer.train

        @functools.wraps(init)
        def noted_init(trainer, *args, **kwargs):
            init(trainer, *args, **kwargs)
            self.trainer = trainer
            self.watch_trainer(trainer)

        @functools.wraps(train)
        def noted_train(trainer, *args, **kwargs):
            cuda_kernels.stand_in_for_trl()
            self.begin(trainer)
            with self.ledger:
                return train(trainer, *args, **kwargs)

        Trainer.__init__, Trainer.train = noted_init, noted_train
        for name, phase in (("training_step", "forward"), ("evaluate", "eval")):
            setattr(Trainer, name, self.in_phase(getattr(Trainer, name), phase))
        backward = accelerate.Accelerator.backward

        def noted_backward(accelerator, loss, **kwargs):
            self.mark("loss")
            backward(accelerator, loss, **kwargs)
            self.ledger.mark(None)

        accelerate.Accelerator.backward = noted_backward
        self.callback = transformers.TrainerCallback

    def in_phase(self, method, phase):
        @functools.wraps(method)
        def noted(trainer, *args, **kwargs):
            self.mark(phase)
            try:
                return method(trainer, *args, **kwargs)
            finally:
                self.ledger.mark(None)

        return noted

    def mark(self, phase):
        self.ledger.mark(f"{phase} {self.step}" if phase != "eval" else phase)

    def watch_trainer(self, trainer):
        tracker = self

        class Steps(self.callback):
            def on_pre_optimizer_step(self, *args, **kwargs):
                gc.collect(0)
                tracker.mark("optimizer")

            def on_optimizer_step(self, *args, **kwargs):
                tracker.ledger.mark(None)
                optimizer = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
                tracker.facts["optimizer"] = described(optimizer)

            def on_step_end(self, *args, **kwargs):
                tracker.step += 1

        trainer.add_callback(Steps())

    def begin(self, trainer):
        """Hooks of the model that is trained; its parameters and those of a reference are there from here on."""
        model = trainer.model
        self.facts["prepared"] = parameters_of(model)
        gc.collect()
        for network in (model, getattr(trainer, "ref_model", None)):
            for tensor in [*network.parameters(), *network.buffers()] if network is not None else ():
                self.ledger.see(tensor, "parameter")
        if self.ledger.now != self.ledger.peaks.get("load"):
            self.ledger.peaks["prepare"] = self.ledger.now
        last_norm(model).register_forward_pre_hook(lambda norm, inputs: self.ends_loss(inputs[0]))
        head = model.get_output_embeddings() or getattr(model, "score", None)
        if head is not None:
            head.register_forward_hook(self.note_logits)
        model.register_forward_pre_hook(self.scores, with_kwargs=True)
        model.register_forward_hook(self.scored, with_kwargs=True)

    def note_logits(self, head, inputs, output):
        self.facts["logits"].setdefault(self.mode(), shape_of(output))

    def ends_loss(self, hidden):
        if hidden.requires_grad:
            hidden.register_hook(lambda gradient: self.mark("backward") if self.is_loss() else None)

    def is_loss(self):
        return (self.ledger.phase or "").startswith("loss")

    def scores(self, model, args, kwargs):
        if not torch.is_grad_enabled() and (self.ledger.phase or "").startswith("forward"):
            self.mark("score")

    def scored(self, model, args, kwargs, output):
        if (self.ledger.phase or "").startswith("score"):
            self.mark("forward")

    # ---- what was seen
    def measured(self):
        peaks = self.ledger.peaks
        names = {
            "load": "load", "prepare": "prepare", "score": "score 1", "forward": "forward 1", "loss": "loss 1",
            "backward": "backward 1", "eval": "eval", "optimizer_step_first": "optimizer 0", "optimizer_step": "optimizer 1",
        }
        instants = {name: peaks[key] for name, key in names.items() if key in peaks}
        return {"instants": instants, "numbers": self.ledger.highest_numbers, "facts": self.facts}

    def explained(self, instant, top=200):
        rows = {}
        for size, what in self.ledger.live_at.get(instant, ()):
            count, total = rows.get(what, (0, 0))
            rows[what] = (count + 1, total + size)
        return sorted(((total, count, what) for what, (count, total) in rows.items()), reverse=True)[:top]


def plain(batch):
    return dict(batch) if isinstance(batch, Mapping) else batch


def bytes_of(model):
    seen = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in [*model.parameters(), *model.buffers()]}
    return sum(block(size) for size in seen.values() if size >= BLOCK)


def parameters_of(model):
    """Elements by dtype, trained and frozen apart."""
    rows = {}
    for parameter in model.parameters():
        kind = f"{str(parameter.dtype)[6:]} {'trained' if parameter.requires_grad else 'frozen'}"
        rows[kind] = rows.get(kind, 0) + parameter.numel()
    return rows


def described(optimizer):
    kept = ("lr", "betas", "eps", "weight_decay", "foreach", "fused", "capturable", "scale_parameter", "relative_step")
    return {"class": type(optimizer).__name__, **{k: v for k, v in optimizer.defaults.items() if k in kept}}


def last_norm(model):
    """The norm before the head: the last module that is called so."""
    names = [n for n, _ in model.named_modules() if n.rsplit(".", 1)[-1] == "norm" and ".layers." not in n]
    return model.get_submodule(names[-1])
