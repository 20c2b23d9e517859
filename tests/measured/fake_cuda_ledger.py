"""Storages alive on a GPU that is not there: see fake_cuda.py, which is imported first."""

import sys
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
SMALL = 1 << 23  # elements of a tensor whose values are worth keeping
OWNED = 2  # references to the storage of a gradient that nobody else holds, seen from Python


def block(size):
    return max(512, (size + 511) // 512 * 512)


def bytes_of(tensor):
    return tensor.numel() * tensor.element_size()


def values(tensor):
    return getattr(tensor, "_known", None)


def tensors_in(tree):
    return [x for x in tree_leaves(tree) if isinstance(x, torch.Tensor)]


SIZED_BY_VALUES = {f"aten::{name}" for name in ("nonzero", "masked_select", "unique_dim", "_unique2", "unique_consecutive",
                                                "bincount", "repeat_interleave", "unique_dim_consecutive")}
INDEXING = {f"aten::{name}" for name in ("index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_",
                                         "_unsafe_index_put")}
WITHOUT_VALUES = {f"aten::{name}" for name in ("rand", "randn", "randint", "rand_like", "randn_like", "empty", "empty_like",
                                               "empty_strided", "new_empty", "new_empty_strided", "bernoulli_", "normal_",
                                               "uniform_", "native_dropout")}


class Ledger(TorchDispatchMode):
    """Storages alive on the GPU, their highest sum by phase, and every birth and death, to look into a peak."""

    def __init__(self):
        super().__init__()
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.alive, self.now, self.phase, self.peaks = {}, 0, "load", {}
        self.events, self.births, self.kernels = [], [], {}

    def enter(self, phase):
        self.phase = phase
        self.measure("")

    def measure(self, doing):
        if self.now > self.peaks.get(self.phase, (-1,))[0]:
            self.peaks[self.phase] = (self.now, len(self.events), str(doing))

    def see(self, tensor, doing):
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if tensor.device.type != "cuda" or size == 0 or key in self.alive:
            return
        born = len(self.births)
        self.births.append((block(size), str(doing), tuple(tensor.shape), str(tensor.dtype)[6:], self.phase, place()))
        self.events.append(born)
        self.now += block(size)
        self.measure(doing)

        def die():
            if self.alive.pop(key, None) is not None:
                self.now -= block(size)
                self.events.append(~born)

        self.alive[key] = weakref.finalize(storage, die)

    def for_a_moment(self, size, doing):
        self.now += size
        self.measure(doing)
        self.now -= size

    def alive_at_peak(self, phase):
        """(bytes, count, birth) of what was alive then, the largest first, and what was at work."""
        _, until, doing = self.peaks[phase]
        alive, rows = set(), {}
        for event in self.events[:until]:
            (alive.add if event >= 0 else alive.discard)(event if event >= 0 else ~event)
        for birth in (self.births[i] for i in alive):
            row = rows.setdefault(birth[1:], [0, 0])
            row[0] += birth[0]
            row[1] += 1
        return doing, sorted(((size, count, *birth) for birth, (size, count) in rows.items()), reverse=True)

    def with_values(self, real):
        with self.mode:
            fake = torch.empty_strided(real.shape, real.stride(), dtype=real.dtype, device="cuda")
        fake._known = real
        return fake

    def on_values(self, function, args, kwargs):
        def real(x):
            if isinstance(x, torch.device):
                return torch.device("cpu")
            return x._known if isinstance(x, FakeTensor) else x

        kwargs = {name: real(value) for name, value in kwargs.items() if name != "pin_memory"}
        with _disable_current_modes():
            return function(*tree_map(real, args), **kwargs)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, function._schema.name
        inputs = tensors_in((args, kwargs))
        if inputs and not any(isinstance(x, FakeTensor) for x in inputs):
            return self.on_cpu(function, name, args, kwargs)
        if name in ("aten::_local_scalar_dense", "aten::item", "aten::is_nonzero"):
            return self.number(args[0])
        # A number that is written into a tensor arrives as a real one.
        known = all(values(x) is not None or not isinstance(x, FakeTensor) for x in inputs)
        if name in ("aten::equal", "aten::allclose"):
            return bool(self.on_values(function, args, kwargs)) if known else True
        if name in INDEXING:
            args, held = self.numbered(args)
            known = all(values(x) is not None for x in tensors_in((args, kwargs)))
        if name in SIZED_BY_VALUES and known:
            out = tree_map(lambda x: self.with_values(x) if isinstance(x, torch.Tensor) else x,
                           self.on_values(function, args, kwargs))
            for tensor in tensors_in(out):
                self.see(tensor, function)
            return out
        args, kwargs = tree_map(self.lifted, args), {key: tree_map(self.lifted, value) for key, value in kwargs.items()}
        in_place = self.as_plain_autograd(name, function, args)
        if in_place is not None:
            with self.mode:
                in_place(*args)
            args[0].__dict__.pop("_known", None)
            return args[0]
        with self.mode:
            out = self.run(function, name, args, kwargs)
        made = tensors_in(out)
        for tensor in made:
            self.see(tensor, function)
        self.inside_kernel(name, args)
        self.carry(function, name, args, kwargs, made, known)
        return out

    def run(self, function, name, args, kwargs):
        if name == "aten::_grouped_mm" and args[0].dtype == torch.float32:  # CUDA takes fp32, the shape function does not
            return function(args[0].bfloat16(), args[1].bfloat16(), *args[2:], **kwargs).float()
        return function(*args, **kwargs)

    def on_cpu(self, function, name, args, kwargs):
        """Real tensors stay real until they are sent to the GPU."""
        sent = name == "aten::_to_copy" and torch.device(kwargs.get("device") or "cpu").type == "cuda"
        with _disable_current_modes():
            real = function(*args, **({**kwargs, "device": torch.device("cpu")} if sent else kwargs))
        if not sent:
            return real
        fake = self.with_values(real)
        self.see(fake, "sent to the GPU")
        return fake

    def number(self, tensor):
        real = values(tensor) if values(tensor) is not None else getattr(tensor, "constant", None)
        if real is not None and not isinstance(real, FakeTensor):
            with _disable_current_modes():
                return real.item()
        return True if tensor.dtype == torch.bool else 1.0 if tensor.dtype.is_floating_point else 1

    def numbered(self, args):
        """Boolean indices as CUDA turns them into numbers; without values half of them are true."""
        indices, held = [], []
        for index in args[1]:
            if not isinstance(index, torch.Tensor) or index.dtype not in (torch.bool, torch.uint8):
                indices.append(index)
                continue
            with _disable_current_modes():
                real = values(index)
                if real is None:
                    real = torch.arange(index.numel()).reshape(index.shape) % 2 == 0
                found = real.nonzero()
            self.for_a_moment(block(8 * found.numel()), "nonzero")
            for column in range(found.shape[1]):
                held.append(self.with_values(found[:, column].contiguous()))
                self.see(held[-1], "nonzero")
                indices.append(held[-1])
        return (args[0], indices, *args[2:]), held

    def lifted(self, x):
        if not isinstance(x, torch.Tensor) or isinstance(x, FakeTensor):
            return x
        fake = self.mode.from_tensor(x)
        fake._known = x
        return fake

    def as_plain_autograd(self, name, function, args):
        """Backward works out of place on tensors of a subclass, in place on plain ones: torch/csrc/autograd input_buffer.cpp
        accumulate, FunctionsManual.cpp gather_backward, index_backward, value_selecting_reduction_backward."""
        node = torch._C._current_autograd_node()
        if node is None or torch.is_grad_enabled() or not called_by_engine():
            return None
        if name == "aten::add":
            a, b = args[0], args[1]
            if not isinstance(b, torch.Tensor) or a.shape != b.shape or a.dtype != b.dtype:
                return None
            alone = torch._C._storage_Use_Count(a.untyped_storage()._cdata) <= OWNED
            dense = torch._prims_common.is_non_overlapping_and_dense_or_false(a)
            return aten.add_.Tensor if alone and dense else None
        if name == "aten::scatter_add" and node.name().startswith("Gather"):
            return aten.scatter_add_.default
        if name == "aten::scatter":
            return getattr(aten.scatter_, function._overloadname)
        if name in ("aten::index_put", "aten::_unsafe_index_put") and node.name().startswith("Index"):
            return aten.index_put_.default
        return None

    def inside_kernel(self, name, args):
        """Buffers of CUDA's kernels: SoftMax.cu; flash_attn mha_bwd; mem_eff_attention kernel_backward.h."""
        if name == "aten::_softmax_backward_data":
            self.for_a_moment(block(bytes_of(args[0])), "softmax backward")
        elif name == "aten::_scaled_dot_product_flash_attention_backward":
            (batch, heads, length, width), (_, key_heads, keys, _) = args[1].shape, args[2].shape
            rows, wide = -(-length // 128) * 128, -(-width // 32) * 32 if width <= 128 else -(-width // 64) * 64
            size = block(4 * batch * heads * rows) + block(4 * batch * rows * heads * wide)
            if key_heads != heads:
                size += 2 * block(2 * batch * keys * heads * width)
            self.for_a_moment(size, "flash backward")
        elif name == "aten::_scaled_dot_product_efficient_attention_backward":
            batch, heads, length, width = args[1].shape
            size = block(4 * batch * heads * length)
            if args[1].element_size() == 2:
                size += block(4 * batch * heads * (-(-length // 64) * 64) * (-(-width // 64) * 64))
            self.for_a_moment(size, "efficient backward")

    def carry(self, function, name, args, kwargs, made, known):
        if name.startswith("aten::_amp_"):
            return
        small = made and all(t.numel() <= SMALL for t in made)
        if small and known and name not in WITHOUT_VALUES and name.split(".")[0] not in WITHOUT_VALUES:
            try:
                real = tensors_in(self.on_values(function, args, kwargs))
            except Exception:  # the CPU has no such kernel: the values are unknown from here on
                real = []
            for fake, value in zip(made, real):
                if fake.shape == value.shape and not isinstance(value, FakeTensor):
                    fake._known = value
        elif function._schema.is_mutable:
            for argument, x in zip(function._schema.arguments, args):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    for tensor in tensors_in(x):
                        tensor.__dict__.pop("_known", None)


def called_by_engine():
    frame = sys._getframe(3)
    while frame is not None and ("torch/_" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "_engine_run_backward"


def place():
    frame, lines = sys._getframe(2), []
    while frame is not None and len(lines) < 3:
        file = frame.f_code.co_filename
        if any(part in file for part in ("transformers/", "/peft/", "/trl/", "accelerate/", "torch/optim")):
            lines.append(f"{file.rsplit('/', 1)[1]}:{frame.f_lineno}:{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(lines)
