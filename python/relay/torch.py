"""Functions of programs as functions of PyTorch, which is imported when one is made."""

from relay import _relay
from relay.functions import vjp


def as_torch(f):
    """`f` as a function of PyTorch's tensors, whose gradient PyTorch's own `backward` asks for.

    Arguments are tensors, the result is one or a tuple of them. It can be differentiated once.
    """
    import torch

    pull = vjp(f)

    def to_relay(tensor):
        tensor = tensor.detach()
        if tensor.device.type != "cpu":
            raise TypeError(f"Relay computes on the processor, and the tensor is on `{tensor.device}`")
        return _relay.from_library(tensor)

    def to_torch(value):
        return torch.from_numpy(value.numpy().copy()) if value.dtype == "bool" else torch.from_dlpack(value)

    class Relayed(torch.autograd.Function):
        @staticmethod
        def forward(context, *args):
            given = [to_relay(each) for each in args]
            if any(context.needs_input_grad):
                result, context.pullback = pull(*given)
            else:
                result = f(*given)
            context.is_tuple = isinstance(result, tuple)
            results = tuple(to_torch(each) for each in (result if context.is_tuple else (result,)))
            context.mark_non_differentiable(*[each for each in results if not each.is_floating_point()])
            return results if context.is_tuple else results[0]

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, *adjoints):
            given = [to_relay(each.contiguous()) for each in adjoints]
            found = context.pullback(_relay.tuple(given, f.home) if context.is_tuple else given[0])
            found = found if isinstance(found, tuple) else (found,)
            return tuple(to_torch(each) if needed else None for each, needed in zip(found, context.needs_input_grad))

    def call(*args):
        return Relayed.apply(*(torch.as_tensor(each) for each in args))

    call.__name__ = getattr(f, "__name__", "relayed")
    call.__doc__ = f.__doc__
    return call
