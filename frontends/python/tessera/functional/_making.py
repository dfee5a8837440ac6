"""Where tensors lie that are made of none."""

from .._core import OnDevice


def made(device, function, *args):
    """What `function` makes of these, which are no tensors, on `device`; None: the default one."""
    if device is None:
        return function(*args)
    with OnDevice(str(device)):
        return function(*args).to(device)
