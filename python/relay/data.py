"""Data types: a class for each constructor, made when it is first met."""


class Data:
    """What a constructor has made of its fields, which never change.

    The fields of a record are attributes; those of another constructor are `_0`, `_1`, ... All can
    be matched by position, and compared.
    """

    __slots__ = ("_fields", "_value", "_generation")  # of the module, when it had the value
    __match_args__ = ()
    _names = ()  # of a record's fields, else empty
    _module = None

    def __init__(self, *fields, **named):
        cls = type(self)
        if named:
            unknown = [name for name in named if name not in cls.__match_args__]
            if unknown:
                raise TypeError(f"{cls.__name__} has no field {unknown[0]!r}")
            rest = cls.__match_args__[len(fields):]
            fields += tuple(named[name] for name in rest if name in named)
        if len(fields) != len(cls.__match_args__):
            raise TypeError(f"{cls.__name__} has {len(cls.__match_args__)} fields, not {len(fields)}")
        self._fields = fields
        self._value = self._generation = None

    def __getattr__(self, name):
        places = type(self).__match_args__
        if name not in places:  # asked for before the fields are: an object that is being copied has none yet
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        return self._fields[places.index(name)]

    def replace(self, **named):
        """The same with other values of these fields."""
        fields = dict(zip(type(self).__match_args__, self._fields))
        unknown = [name for name in named if name not in fields]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {unknown[0]!r}")
        return type(self)(**{**fields, **named})

    def __iter__(self):
        return iter(self._fields)

    def __eq__(self, other):
        return type(self) is type(other) and all(map(_equal, self._fields, other._fields))

    __hash__ = None

    def __repr__(self):
        names = type(self)._names
        shown = [f"{n}={v!r}" for n, v in zip(names, self._fields)] if names else [repr(v) for v in self._fields]
        return f"{type(self).__name__}({', '.join(shown)})"


def _equal(a, b):
    if isinstance(a, (Data, tuple, list)):
        if isinstance(a, Data) or type(a) is not type(b):
            return a == b
        return len(a) == len(b) and all(map(_equal, a, b))
    import numpy

    return bool(numpy.array_equal(numpy.asarray(a), numpy.asarray(b)))


def places_of(field_names):
    """What the fields of a constructor are called in Python."""
    return tuple(name or f"_{i}" for i, name in enumerate(field_names))


def class_of(module, name, field_names):
    """The class of a constructor; `field_names` has "" for fields without names."""
    return type(name, (Data,), {
        "__slots__": (),
        "__match_args__": places_of(field_names),
        "__module__": module.__name__,
        "__doc__": module._engine.doc(name) or None,
        "_names": tuple(each for each in field_names if each),
        "_module": module,
    })
