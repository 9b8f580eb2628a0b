"""What objects of Python are in a program, and the other way."""

import numpy

from relay import _relay
from relay.data import Data
from relay.tensor import tensor


def to_value(thing, home):
    """The value of an object that is none yet, and no array. `home`: the module of the call."""
    if isinstance(thing, Data):
        return _value_of_data(thing, home)
    if isinstance(thing, tuple):
        return _relay.tuple([_value(each, home) for each in thing], home)
    if isinstance(thing, list):
        return _list(thing, home)
    if isinstance(thing, type) and issubclass(thing, Data):
        return _constructor(thing)
    return tensor(thing)


def _constructor(cls):
    made = cls._module._constructor(cls.__name__)
    if cls._module._class(made) is not cls:
        raise TypeError(f"{cls.__name__} has been defined anew, with other fields")
    return made


def _value(thing, home):
    if isinstance(thing, _relay.Value):
        return thing
    return _relay.from_array(thing) if isinstance(thing, numpy.ndarray) else to_value(thing, home)


def _value_of_data(thing, home):
    module = thing._module
    if thing._value is None or thing._generation != module._generation:  # the name may mean another type
        generation = module._generation
        thing._value = _constructed(_constructor(type(thing)), thing._fields)
        thing._generation = generation
    return thing._value


def _constructed(constructor, fields):
    return constructor.value(*fields) if fields else constructor


def _list(things, home):
    made = home._constructor("Nil")
    for each in reversed(things):
        made = home._constructor("Cons").value(each, made)
    return made


def from_value(value, home):
    """What a value that is neither a tensor nor a function is in Python."""
    if value.kind == "tuple":
        return tuple(value.fields())
    if value.kind != "data":
        return value
    if value.constructor in ("Nil", "Cons") and value.type.startswith("List["):
        things = []
        while value.constructor == "Cons":
            first, value = value.values()
            things.append(from_value(first, home) if type(first) is _relay.Value else first)
        return things
    made = home._class(value)(*value.fields())
    made._value = value
    made._generation = home._generation
    return made
