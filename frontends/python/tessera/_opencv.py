"""OpenCV, which vision transforms and datasets compute with; it is imported at its first use."""

from ._extras import importing


def opencv(tool):
    """The module cv2, for `tool`; ImportError that says what to install where it is missing."""
    with importing(tool, "OpenCV", "'tessera[vision]' or opencv-python-headless"):
        import cv2
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
