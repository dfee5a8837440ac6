"""Calls as a person would write them, and methods of stand-ins."""

from . import _current


class Call:
    """One call of a function in Python: its arguments as a person would write them."""

    def __init__(self, function, values):
        self.function = function
        code, defaults = function.__code__, function.__defaults__ or ()
        count, names = code.co_argcount, code.co_varnames
        named = dict(function.__kwdefaults__ or {})
        rest = list(values[count + code.co_kwonlyargcount :])
        star = rest.pop(0) if code.co_flags & 0x04 else ()
        further = rest.pop(0) if code.co_flags & 0x08 else {}
        args, kwargs = [], {}
        for i, value in enumerate(values[:count]):
            default = i - (count - len(defaults))
            if star or default < 0 or i < code.co_posonlyargcount:
                args.append(value)
            elif not _is_default(defaults[default], value):
                kwargs[names[i]] = value
        for i in range(count, count + code.co_kwonlyargcount):
            if names[i] not in named or not _is_default(named[names[i]], values[i]):
                kwargs[names[i]] = values[i]
        self.arguments = (*args, *star), {**kwargs, **further}

    @property
    def is_creation(self):
        """Whether it makes a tensor of what it is given, numbers as a rule."""
        return self.function.__module__ == "tessera.tensor"


class Method:
    """A method of a stand-in, which tells of its call."""

    def __init__(self, recorder, target, name):
        self._recorder, self._target, self._name = recorder, target, name

    def __call__(self, *args, **kwargs):
        found = _current.recorder()
        if found is not self._recorder or found.is_muted:
            return getattr(self._target.value, self._name)(*args, **kwargs)
        return found.call_method(self._target, self._name, args, kwargs)


def method_caller(name):
    """A function of an object and arguments that calls the method of that name."""

    def _call(target, *args, **kwargs):
        return getattr(target, name)(*args, **kwargs)

    return _call


def _is_default(default, value):
    if default is value:
        return True
    return type(default) is type(value) and type(value) in (int, float, str, tuple) and (
        default == value
    )  # fmt: skip
