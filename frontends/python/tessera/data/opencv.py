"""OpenCV, which vision transforms and datasets compute with; it is imported at its first use."""


def opencv(tool):
    """The module cv2, for `tool`; ImportError that says what to install where it is missing."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError(
            f"{tool}: OpenCV must be installed (pip install 'tessera[vision]' or "
            f"opencv-python-headless), got {error}"
        ) from error
    return cv2


def read_image(tool, path, color=True):
    """The image in the file `path`, uint8: (H, W, 3) in the order blue, green, red, or (H, W) of
    gray without `color`."""
    cv2 = opencv(tool)
    with open(path, "rb"):
        pass  # a file that is not there is an error of its own
    image = cv2.imread(str(path), cv2.IMREAD_COLOR if color else cv2.IMREAD_GRAYSCALE)
    if image is None:
        raise ValueError(f"{tool}: file must be an image that OpenCV reads, got {path}")
    return image
