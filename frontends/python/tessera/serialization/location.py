"""On which device loaded tensors are made."""

_ANY = "xpux"  # MegEngine's name for whichever device is the default


def locator(map_location):
    """`map_location` of load, as a function from a device's name to a device, or None for the
    default one.
    """
    if map_location is None:
        return lambda device: None
    if isinstance(map_location, str):
        return lambda device: map_location
    if isinstance(map_location, dict):
        return lambda device: _mapped(map_location, device)
    if callable(map_location):
        return lambda device: _called(map_location, device)
    raise TypeError(
        f"load: map_location must be a device's name, a dict of names or a function, "
        f"got {type(map_location).__name__}"
    )


def _called(function, device):
    try:
        return function(device)
    except Exception as error:
        raise RuntimeError(
            f"load: map_location must give a device for {device!r}, got {error!r}"
        ) from error


def _mapped(names, device):
    for name in (device, device.partition(":")[0]):  # "cpu0:1" is a stream of "cpu0"
        if name in names:
            return names[name]
    return None if device == _ANY else device
