"""Tensors, which NumPy and PyTorch read without a copy."""

import numpy

from relay import _relay
from relay._relay import Tensor


def _as_written(thing):
    """Numbers in lists as an array of the dtype that they have in a program: `int32` or `float32`."""
    array = numpy.asarray(thing)
    wanted = {"f": numpy.float32, "i": numpy.int32, "b": numpy.bool_}.get(array.dtype.kind)
    if wanted is None:
        raise TypeError(f"a `{type(thing).__name__}` of `{array.dtype}` is no tensor")
    with numpy.errstate(over="ignore"):
        made = array.astype(wanted)
    if not (numpy.isfinite(made) == numpy.isfinite(array)).all() or (array.dtype.kind == "i" and (made != array).any()):
        raise OverflowError(f"a number in it is no {made.dtype}; `dtype` says what they are")
    return made


def tensor(thing, dtype=None):
    """A tensor of an array, of what has `__dlpack__`, or of a number, or lists of such: `int32` or `float32`.

    The memory of an array is used as it is, and must not change as long as the tensor lives.
    """
    if isinstance(thing, Tensor) and dtype is None:
        return thing
    if dtype is None and not isinstance(thing, (numpy.ndarray, numpy.generic)):
        if isinstance(thing, bool):
            dtype = numpy.bool_
        elif isinstance(thing, int):
            dtype = numpy.int32
            if not -(2**31) <= thing < 2**31:
                raise OverflowError(f"{thing} is no int32; numpy.int64({thing}) is larger")
        elif isinstance(thing, float):
            dtype = numpy.float32
            if numpy.isfinite(thing) and abs(thing) > numpy.finfo(dtype).max:
                raise OverflowError(f"{thing} is no float32; numpy.float64({thing}) is larger")
        elif isinstance(thing, (list, tuple)):
            return _relay.from_array(_as_written(thing))
        elif hasattr(thing, "__dlpack__"):
            return _relay.from_library(thing)
        else:
            raise TypeError(f"a `{type(thing).__name__}` is no value of Relay")
    return _relay.from_array(numpy.asarray(thing, dtype))


class _Arithmetic(numpy.lib.mixins.NDArrayOperatorsMixin):
    """What a tensor has of an array. Arithmetic is NumPy's, and gives its arrays."""

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        arrays = [each.numpy() if isinstance(each, Tensor) else each for each in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def __repr__(self):
        return f"{self.text} : {self.type}"

    def __len__(self):
        if not self.shape:
            raise TypeError("a number has no length")
        return self.shape[0]

    def __getitem__(self, index):
        return self.numpy()[index]

    def __iter__(self):
        return iter(self.numpy())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __index__(self):
        item = self.item()
        if not isinstance(item, int):
            raise TypeError(f"a tensor of `{self.dtype}` is no index")
        return item

    def __format__(self, spec):
        return format(self.item(), spec) if spec and not self.shape else format(str(self), spec)

    def __round__(self, digits=None):
        return round(self.item(), digits)

    @property
    def ndim(self):
        return len(self.shape)

    def item(self):
        """The one element, as a number of Python."""
        return self.numpy().item()

    def tolist(self):
        return self.numpy().tolist()


for _origin in (numpy.lib.mixins.NDArrayOperatorsMixin, _Arithmetic):
    for _name, _member in vars(_origin).items():
        if callable(_member) or isinstance(_member, property):
            setattr(Tensor, _name, _member)
Tensor.__hash__ = None
