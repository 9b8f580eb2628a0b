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
        return home._constructor(thing.__name__)
    return tensor(thing)


def _value(thing, home):
    if isinstance(thing, _relay.Value):
        return thing
    return _relay.from_array(thing) if isinstance(thing, numpy.ndarray) else to_value(thing, home)


def _value_of_data(thing, home):
    module = thing._module
    if thing._value is None or thing._generation != module._generation:  # the name may mean another type
        generation = module._generation
        name = type(thing).__name__
        if module._class(module._constructor(name)) is not type(thing):
            raise TypeError(f"{name} has been defined anew, with other fields")
        thing._value = _construct(module, name, thing._fields)
        thing._generation = generation
    return thing._value


def _construct(module, name, fields):
    constructor = module._constructor(name)
    if not fields:
        return constructor
    return constructor.value(*fields)


def _list(things, home):
    made = _construct(home, "Nil", ())
    for each in reversed(things):
        made = _construct(home, "Cons", (each, made))
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
