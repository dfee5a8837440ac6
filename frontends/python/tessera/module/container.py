"""Modules made of modules."""

from collections import OrderedDict

from .module import Module


class _Container(Module):
    def forward(self, *inputs, **kwargs):
        """Modules without an order of calls compute nothing."""
        return super().forward(*inputs, **kwargs)


class ModuleList(_Container):
    """A list of modules, named by their positions."""

    def __init__(self, modules=(), **kwargs):
        super().__init__(**kwargs)
        self.extend(modules)

    def append(self, module):
        """Adds a module at the end; returns the list."""
        setattr(self, str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds several; returns the list."""
        for module in modules:
            self.append(module)
        return self

    def _items(self):
        return [
            value for _, value in sorted((int(k), v) for k, v in vars(self).items() if k.isdigit())
        ]

    def __getitem__(self, index):
        items = self._items()[index]
        return ModuleList(items) if isinstance(index, slice) else items

    def __setitem__(self, index, module):
        setattr(self, str(range(len(self))[index]), module)

    def __iter__(self):
        return iter(self._items())

    def __len__(self):
        return sum(key.isdigit() for key in vars(self))


class ModuleDict(_Container):
    """Modules by name, a string."""

    def __init__(self, modules=(), **kwargs):
        super().__init__(**kwargs)
        self._names = []
        for name, module in OrderedDict(modules).items():
            self[name] = module

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(f"ModuleDict: name must be one of {self._names}, got {name!r}")
        return getattr(self, name)

    def __setitem__(self, name, module):
        if not isinstance(name, str):
            raise TypeError(f"ModuleDict: name must be a string, got {name!r}")
        if name not in self._names:
            if hasattr(self, name):
                raise KeyError(f"ModuleDict: name must not be one of Module's own, got {name!r}")
            self._names.append(name)
        setattr(self, name, module)

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def keys(self):
        """The names."""
        return list(self._names)

    def values(self):
        """The modules."""
        return [getattr(self, name) for name in self._names]

    def items(self):
        """(name, module)."""
        return list(zip(self._names, self.values(), strict=True))


class Sequential(Module):
    """Modules one after the other: given as arguments, or as one OrderedDict with names."""

    def __init__(self, *args, **kwargs):
        super().__init__(**kwargs)
        self.layer_keys = []
        named = args[0] if len(args) == 1 and isinstance(args[0], dict) else None
        items = named.items() if named is not None else enumerate(args)
        for key, module in items:
            if not callable(module):
                raise TypeError(f"Sequential: layers must be callable, got {type(module).__name__}")
            self.layer_keys.append(str(key))
            setattr(self, str(key), module)

    @property
    def layer_values(self):
        """The modules, in order."""
        return [getattr(self, key) for key in self.layer_keys]

    def __getitem__(self, index):
        keys = self.layer_keys[index]
        if isinstance(index, slice):
            return Sequential(OrderedDict((key, getattr(self, key)) for key in keys))
        return getattr(self, keys)

    def __setitem__(self, index, module):
        setattr(self, self.layer_keys[index], module)

    def __len__(self):
        return len(self.layer_keys)

    def __iter__(self):
        return iter(self.layer_values)

    def forward(self, inp):
        """Each module on the result of the one before."""
        for layer in self.layer_values:
            inp = layer(inp)
        return inp
