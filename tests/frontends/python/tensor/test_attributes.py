"""Attributes of tensors and parameters: those that would do nothing are refused."""

import pytest
import tessera
from tessera import Parameter, Tensor

FOREIGN = {
    "requires_grad": "GradManager",
    "is_leaf": "GradManager",
    "grad_fn": "GradManager",
    "data": "set_value",
}
OWN = ["grad", "name", "shape", "dtype", "device", "format", "qparams"]
SLIPS = {f"{own[0]}{own[2]}{own[1]}{own[3:]}": own for own in OWN}  # two letters exchanged
SLIPS |= {f"{own[0]}{own[2:]}": own for own in OWN}  # one left out
SLIPS |= {f"{own[:3]}{own[2:]}": own for own in OWN}  # one doubled
TAKEN = ["no_decay", "names", "grads", "grid", "tag", "lr", "group", "game", "shape_of", "_grad"]


@pytest.mark.parametrize("kind", [Tensor, Parameter])
@pytest.mark.parametrize("name", [*FOREIGN, *SLIPS])
def test_what_would_do_nothing_is_refused(kind, name):
    x = kind([1.0])
    instead = FOREIGN.get(name) or f"the attribute is {SLIPS[name]}"
    with pytest.raises(AttributeError, match=f"{kind.__name__}: {name} has no effect .*{instead}"):
        setattr(x, name, False)
    assert not hasattr(x, name)


@pytest.mark.parametrize("name", TAKEN)
def test_other_attributes_of_parameters_are_the_users(name):
    weight = Parameter([1.0])
    setattr(weight, name, 7)
    assert getattr(weight, name) == 7
    delattr(weight, name)
    assert not hasattr(weight, name)


def test_a_plain_tensor_has_no_further_attributes():
    with pytest.raises(AttributeError, match="no_decay"):
        tessera.functional.ones(2).no_decay = True


def test_own_attributes_are_set_as_before():
    weight = Parameter([1.0])
    weight.grad, weight.name, weight.format = Tensor([2.0]), "w", "nhwc"
    assert (weight.grad.item(), weight.name, weight.format) == (2.0, "w", "nhwc")
    with pytest.raises(AttributeError):
        weight.shape = (2,)


class Tagged(Parameter):
    data = None


def test_a_class_of_the_user_may_have_the_attribute():
    weight = Tagged([1.0])
    weight.data = 3
    assert weight.data == 3
