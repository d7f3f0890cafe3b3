"""PyTorch as the protocol sees it, in each of its modes."""

import eager
import tensors
from broadcheck_adapter import Library


def run_eagerly():
    """Each operation as it is called."""
    return library("pytorch", eager.operations(), eager.LACKS, reset=eager.reset)


def run_by_operators():
    """The same calls by operators and by other names."""
    import operators

    return library("pytorch-operators", operators.operations(), eager.LACKS, reset=eager.reset)


# Operations that read elements.
VALUES = ["item", "masked_select", "equal", "allclose"]


def run_on_meta():
    """The same on the meta device, where tensors have all but elements."""
    operations = {name: call for name, call in eager.operations().items() if name not in VALUES}
    return library(
        "pytorch-meta",
        operations,
        [*eager.LACKS, *({"op": name, "why": "meta tensors have no elements to look at"} for name in VALUES)],
        make=tensors.make_meta,
        values=False,
        read=tensors.facts,
        reset=eager.reset,
    )


def run_references():
    """The references, on tensors with elements."""
    import refs

    return library("pytorch-refs", refs.operations(), refs.LACKS, gradients=False, reset=eager.reset)


def run_compiled():
    """Each operation compiled for the shapes of its call, without generated code."""
    import compiled

    return by_compiler("pytorch-compile", compiled.for_its_shapes("aot_eager"))


def run_generated_code():
    """Each operation compiled to C++ code, with symbols for sizes."""
    import compiled

    return by_compiler("pytorch-inductor", compiled.for_symbols)


def run_generated_code_for_constants():
    """Each operation compiled to C++ code for the shapes of its call."""
    import compiled

    return by_compiler("pytorch-inductor-static", compiled.for_its_shapes("inductor"))


def by_compiler(name, around):
    """Texts are those of the meta device, and are judged there."""
    import compiled

    return library(name, compiled.operations(around), eager.LACKS, texts=False, reset=eager.reset)


def run_batched():
    """Each call by vmap over all of its operands. Texts, strides and storages are those of the batch."""
    import batched

    return library(
        "pytorch-vmap",
        batched.operations(),
        [*eager.LACKS, *batched.LACKS],
        make=batched.make,
        read=batched.read,
        reset=eager.reset,
        strides=False,
        texts=False,
    )


def run_in_forward_mode():
    """Gradients by forward mode. Texts are those of eager mode, and are judged there."""
    import directional

    lacks = directional.LACKS_OF_FORWARD_MODE
    return by_directions("pytorch-jvp", directional.by_forward_mode, lacks)


def run_backward_twice():
    """Gradients by double backward. Texts are those of eager mode, and are judged there."""
    import directional

    return by_directions("pytorch-double-backward", directional.by_double_backward, [])


def by_directions(name, method, lacks):
    import directional

    operations = directional.operations(method)
    lacks = [*eager.LACKS, *lacks]
    return library(
        name,
        operations,
        lacks,
        make=directional.make,
        read=directional.read,
        reset=eager.reset,
        strides=False,
        texts=False,
    )


def run_traced():
    """Each call traced with symbolic sizes. Texts are those of the meta device, and are judged there."""
    import traced

    lacks = [*eager.LACKS, *traced.LACKS]
    return library("pytorch-symbolic", traced.operations(), lacks, reset=eager.reset, texts=False)


def run_exported():
    """Each call exported and decomposed. Texts are those of the meta device, and are judged there."""
    import exported

    lacks = [*eager.LACKS, *exported.LACKS]
    return library("pytorch-export", exported.operations(), lacks, reset=eager.reset, texts=False)


def run_scripted():
    """Shapes by the shape functions of TorchScript. They assert, in texts of their own."""
    import scripted

    return library(
        "pytorch-jit",
        scripted.operations(),
        scripted.LACKS,
        make=tensors.make_meta,
        values=False,
        gradients=False,
        strides=False,
        texts=False,
        unsupported=scripted.UNSUPPORTED,
    )


def run_on_device():
    """Each operation on a device that is named at run time."""
    from device import Device

    device = Device()
    return library(
        device.library,
        eager.operations(device.guarded),
        eager.LACKS,
        make=device.make,
        device=f"; {device.description()}",
        reset=eager.reset,
    )


def library(
    name,
    operations,
    lacks,
    *,
    make=tensors.make,
    device="",
    reset=lambda: None,
    gradients=True,
    values=True,
    read=tensors.read,
    strides=True,
    texts=True,
    unsupported=tuple(eager.UNSUPPORTED),
):
    tensors.start()
    capabilities = ["in_place", "out"]
    if strides:
        capabilities.append("strides")
    if texts:
        capabilities += ["warnings", "messages"]
    if gradients:
        capabilities.append("autograd")
    if not values:
        capabilities.append("no_values")

    def fresh(*arguments):
        reset()
        return make(*arguments)

    return Library(
        name=name,
        version=tensors.version(),
        build=tensors.build() + device,
        dtypes=tensors.DTYPES,
        ops=operations,
        make=fresh,
        read=read,
        is_tensor=tensors.is_tensor,
        classify=tensors.classify,
        capabilities=capabilities,
        lacks=lacks,
        unsupported=unsupported,
        warnings=tensors.warned,
        # PyTorch in Python raises exceptions of all kinds.
        mistakes=(NameError, ImportError),
    )


MODES = {
    "eager": run_eagerly,
    "operators": run_by_operators,
    "meta": run_on_meta,
    "refs": run_references,
    "compile": run_compiled,
    "inductor": run_generated_code,
    "inductor-static": run_generated_code_for_constants,
    "vmap": run_batched,
    "jvp": run_in_forward_mode,
    "double-backward": run_backward_twice,
    "symbolic": run_traced,
    "export": run_exported,
    "jit": run_scripted,
    "device": run_on_device,
}
