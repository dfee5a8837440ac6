"""Base class of modules that train with simulated quantization."""

from ..module import Module


class QATModule(Module):
    """Base class of modules whose weights and results are rounded to grids as they are in training.

    It is a float module: what its fake quantizers give is float32, on the grid of `qparams`. Sums
    of products are those that the quantized module has, bit for bit, where the input and the weight
    are on grids; elsewhere, as during calibration, they are those of floats.

    A subclass gives `forward`, by `apply_quant_weight` and `apply_quant_activation`.

    >>> import tessera.module as M
    >>> from tessera.module import qat
    >>> qat.ConvRelu2d.from_float_module(M.ConvRelu2d(3, 8, 1))
    QAT.ConvRelu2d(3, 8, kernel_size=(1, 1))
    """

    with_weight = True  # whether there is a weight, and a result, to be rounded
    with_act = True

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.weight_observer = self.act_observer = None
        self.weight_fake_quant = self.act_fake_quant = None

    def __repr__(self):
        return f"QAT.{super().__repr__()}"

    def set_qconfig(self, qconfig):
        """Makes observers and fake quantizers of a `quantization.QConfig`, whose members are None
        or are called.
        """
        for kind, is_there in (("act", self.with_act), ("weight", self.with_weight)):
            if is_there:
                for part in ("observer", "fake_quant"):
                    make = getattr(qconfig, f"{kind}_{part}")
                    setattr(self, f"{kind}_{part}", make if make is None else make())

    def set_fake_quant(self, enable):
        """Switches the fake quantizers on or off."""
        self._switch("fake_quant", enable)

    def set_observer(self, enable):
        """Switches the observers on or off."""
        self._switch("observer", enable)

    def _switch(self, part, enable):
        for kind, is_there in (("act", self.with_act), ("weight", self.with_weight)):
            found = getattr(self, f"{kind}_{part}") if is_there else None
            if found is not None:
                (found.enable if enable else found.disable)()

    def apply_quant_weight(self, target):
        """Gives the tensor as the observer and the fake quantizer of the weight give it; on a grid
        it has `qparams`.
        """
        return _applied(target, self.weight_observer, self.weight_fake_quant)

    def apply_quant_activation(self, target):
        """Gives the tensor as the observer and the fake quantizer of results give it; on a grid it
        has `qparams`.
        """
        return _applied(target, self.act_observer, self.act_fake_quant)

    def apply_quant_bias(self, target, inp, w_qat):
        """Gives a bias on the grid that sums of products of `inp` and `w_qat` have, where both fake
        quantizers are enabled; see `quantization.fake_quant_bias`. The modules here do not need it:
        their sums round the bias.
        """
        from ...quantization.utils import fake_quant_bias  # which few need, and needs this room

        if _is_enabled(self.act_fake_quant) and _is_enabled(self.weight_fake_quant):
            return fake_quant_bias(target, inp, w_qat)
        return target

    def get_weight_dtype(self):
        """Gives the quantized dtype of the weight; None without an observer."""
        return self._asked("get_quantized_dtype", "weight")

    def get_activation_dtype(self):
        """Gives the quantized dtype of the result; None without an observer."""
        return self._asked("get_quantized_dtype", "act")

    def get_weight_qparams(self):
        """Gives the QParams of the weight; None without an observer."""
        return self._asked("get_qparams", "weight")

    def get_activation_qparams(self):
        """Gives the QParams of the result; None without an observer."""
        return self._asked("get_qparams", "act")

    def _asked(self, method, kind):
        """A method of the fake quantizer, or of the observer where that has none of the name."""
        for part in ("fake_quant", "observer"):
            found = getattr(self, f"{kind}_{part}")
            if hasattr(found, method):
                return getattr(found, method)()
        return None

    @property
    def _layer(self):
        """The module that has the settings of the layer."""
        return self

    def _weight_and_bias(self):
        """The weight and the bias or None of the quantized module, not rounded yet."""
        return self.weight, self.bias

    def _rounds_weights(self):
        return _is_enabled(self.weight_fake_quant)

    @classmethod
    def from_float_module(cls, float_module):
        """Makes the module of a float one, whose tensors, children and settings it shares.

        TypeError: the float module must be of the class that this one is made of.
        """
        kinds = [each for each in cls.__mro__ if not issubclass(each, QATModule)]
        if not isinstance(float_module, kinds[0]):
            kind = type(float_module).__name__
            raise TypeError(
                f"from_float_module: float_module must be a {kinds[0].__name__}, got a {kind}"
            )
        made = cls.__new__(cls)
        QATModule.__init__(made, name=float_module.name)
        own = {*vars(made), "_backward_hooks"} - {"training"}
        for key, value in vars(float_module).items():
            if key not in own:
                setattr(made, key, value)
        return made


def _is_enabled(fake_quant):
    return fake_quant is not None and fake_quant.enabled


def _applied(target, observer, fake_quant):
    result = target if observer is None else observer(target)
    if not _is_enabled(fake_quant):
        return result
    asks = observer is not None and not hasattr(fake_quant, "get_qparams")
    return fake_quant(result, observer.get_qparams() if asks else None)
