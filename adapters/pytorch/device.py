"""The device that the variable BROADCHECK_DEVICE names, `cuda` if it names none, and the calls of `eager.py` on it.

Inputs are made on the device, and results are copied back to be read. On `cpu` the library is `pytorch`, whatever the
folder of the adapter is called, so that no run on the processor is taken for one on a GPU.
"""

import functools
import os

import torch

import tensors
from broadcheck_adapter.worker import CannotRun, Lost

VARIABLE, DEFAULT = "BROADCHECK_DEVICE", "cuda"


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]


class Device:
    def __init__(self):
        self.name = os.environ.get(VARIABLE) or DEFAULT
        try:
            self.device = self.compute().device
        except Exception as error:
            raise CannotRun(
                f"torch {torch.__version__} cannot compute on the device `{self.name}`: {first_line(error)} "
                f"({VARIABLE} names another device, such as cuda:1 or cpu)"
            ) from error

    def compute(self):
        """Something to find out whether the device works. What waits for a result meets the error of a kernel."""
        tensor = torch.ones(1, device=self.name).add(1)
        assert tensor.item() == 2, f"1 + 1 is {tensor.item()}"
        return tensor

    @property
    def library(self):
        return "pytorch" if self.device.type == "cpu" else f"pytorch-{self.device.type}"

    def description(self):
        if self.device.type != "cuda":
            return f"device {self.device}"
        major, minor = torch.cuda.get_device_capability(self.device)
        return f"device {self.device}, {torch.cuda.get_device_name(self.device)}, compute capability {major}.{minor}"

    def make(self, dtype, shape, data, requires_grad):
        # A tensor that `copy_` has filled is at version 1 already, and messages print the version.
        tensor = tensors.make(dtype, shape, data, False).to(self.device, copy=True)
        return tensor.requires_grad_() if requires_grad else tensor

    def guarded(self, function):
        """Calls the function, and waits until the device is done. A kernel that fails, as by an assertion that an index
        is in bounds, can make the device useless for the process: then every call that follows fails, too."""

        @functools.wraps(function)
        def run(*given, **named):
            try:
                result = function(*given, **named)
                self.synchronize()
                return result
            except Exception as error:
                if self.is_lost():
                    raise Lost(f"no call succeeds on {self.device} after this: {first_line(error)}") from error
                raise

        return run

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def is_lost(self):
        try:
            self.compute()
        except Exception:
            return True
        return False
