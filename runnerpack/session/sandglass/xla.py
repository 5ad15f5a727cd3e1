"""What a torch_xla trainer needs of its TPU chip, in a few calls.

    from sandglass import xla

    device = xla.device()                          # the one chip this process may open
    model.to(device)
    for x, y in xla.loader(batches, device):       # batches of one fixed size: drop_last=True
        with xla.autocast():                       # bf16; no GradScaler
            loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        xla.sync()                                 # once a step: the graph built so far runs
    xla.save({"model": model.state_dict()}, "artifacts/idea/fold0_resume.pt")

Inside a session each fold is a process with one chip of its own; the session sets the environment. The same script runs
without a TPU under PJRT_DEVICE=CPU. docs/tpu.md has the list of what to change in a CUDA script. torch and torch_xla
are imported when a function is called, and not before.
"""

import os

from sandglass.atomic import replacing

_caches = set()  # folders that this process compiles into


def available():
    """True when this process has an XLA device to train on: torch_xla can be imported and PJRT_DEVICE is set, as it is
    in a session's TPU task and in a rehearsal on the CPU."""
    if not os.environ.get("PJRT_DEVICE"):
        return False
    import importlib.util
    return importlib.util.find_spec("torch_xla") is not None


def device():
    """The XLA device of this process. Compiled graphs go to the folder that the session names in SANDGLASS_COMPILE_CACHE,
    so that a fold tried again in the same session does not compile again."""
    import torch_xla
    compile_cache()
    if hasattr(torch_xla, "device"):
        return torch_xla.device()
    import torch_xla.core.xla_model as xm
    return xm.xla_device()


def sync(wait=False):
    """Ends a step: what was built since the last call is compiled (the first time) and started. wait=True returns when
    it is done: for timing, never in training."""
    import torch_xla
    import torch_xla.core.xla_model as xm
    if hasattr(torch_xla, "sync"):
        torch_xla.sync()
    else:
        xm.mark_step()
    if wait:
        xm.wait_device_ops()


def autocast(enabled=True):
    """bf16 around the forward pass and the loss. bf16 has fp32's range, so nothing is scaled."""
    import torch
    return torch.autocast("xla", dtype=torch.bfloat16, enabled=enabled)


def loader(batches, device):
    """Feeds batches to the device ahead of the step that needs them, and ends a step at each."""
    import torch_xla.distributed.parallel_loader as parallel
    return parallel.MpDeviceLoader(batches, device)


def compile_cache(folder=None):
    """Keeps compiled graphs in a folder, that of SANDGLASS_COMPILE_CACHE unless one is given; without either it does
    nothing. One folder a process, set once and before anything is computed; a second call does nothing. device() does it."""
    folder = folder or os.environ.get("SANDGLASS_COMPILE_CACHE")
    if not folder or folder in _caches:
        return
    import torch_xla.runtime as xr
    os.makedirs(folder, exist_ok=True)
    xr.initialize_cache(os.fspath(folder), readonly=False)
    _caches.add(folder)


def to_cpu(value):
    """A copy of a state (nested dicts, lists and tuples) with every tensor on the CPU, detached."""
    if isinstance(value, dict):
        return {k: to_cpu(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[to_cpu(v) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)(to_cpu(v) for v in value)
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return value.detach().cpu()
    return value


def save(state, path):
    """torch.save of a CPU copy, whole or not at all. A file with device tensors would open only on the same kind of
    device. Ends the step, so call it between steps."""
    import torch
    state = to_cpu(state)
    with replacing(path) as f:
        torch.save(state, f)


def load(path):
    """The state that save() wrote, on the CPU: give it to load_state_dict, then move the model to the device. An
    optimiser's load_state_dict moves its state to its parameters' device by itself. It unpickles: your own files only."""
    import torch
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except TypeError:  # torch before 1.13 has no weights_only
        return torch.load(path, map_location="cpu")


def report():
    """torch_xla's short metrics, as text. CompileTime's count should stop rising after a few steps; a counter that
    begins with aten:: is an operation that ran on the CPU (nonzero and _local_scalar_dense aside)."""
    import torch_xla.debug.metrics as metrics
    return metrics.short_metrics_report()


def fallbacks():
    """Names of the operations that left the device since the start, without the two that are harmless."""
    import torch_xla.debug.metrics as metrics
    harmless = ("aten::nonzero", "aten::_local_scalar_dense")
    return sorted(name for name in metrics.counter_names() if name.startswith("aten::") and name not in harmless)
