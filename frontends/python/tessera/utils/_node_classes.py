"""MegEngine's classes of operators, by the records that do the same."""

import functools

from .. import _core
from ..core.ops.families import ELEMWISE_MODES, REDUCE_MODES

# By MegEngine's class: its name of the type, and OpDef names. Elemwise is every elementwise record
# that is not of another family.
FAMILIES = {
    "Elemwise": ("Elemwise", ""),
    "Reduce": ("Reduce", "Sum Mean Prod Max Min"),
    "TypeCvt": ("TypeCvt", "Cast"),
    "Identity": ("Identity", "Copy"),
    "MatrixInverse": ("MatrixInverse", "Matinv"),
    "MatrixMul": ("MatrixMul", "Matmul Linear"),
    "SVD": ("SVD", "Svd"),
    "ConvolutionForward": ("Convolution", "Conv1d Conv2d Conv3d"),
    "ConvolutionBackwardData": (
        "ConvTranspose",
        "ConvTranspose1d ConvTranspose2d ConvTranspose3d Conv2dBackwardData Conv3dBackwardData",
    ),
    "DeformableConvForward": ("DeformableConv", "DeformableConv2d"),
    "GroupLocalForward": ("GroupLocal", "LocalConv2d"),
    "PoolingForward": (
        "Pooling",
        "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d",
    ),
    "AdaptivePoolingForward": (
        "AdaptivePooling",
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d",
    ),
    "ROIPoolingForward": ("ROIPooling", "RoiPooling"),
    "DeformablePSROIPoolingForward": ("DeformablePSROIPooling", "DeformablePsroiPooling"),
    "BatchNormForward": ("BatchNorm", "BatchNorm BatchNormInference"),
    "ROIAlignForward": ("ROIAlign", "RoiAlign"),
    "WarpPerspectiveForward": ("WarpPerspective", "WarpPerspective"),
    "WarpAffineForward": ("WarpAffine", "WarpAffine"),
    "RemapForward": ("Remap", "Remap"),
    "ResizeForward": ("Resize", "Resize"),
    "ArgsortForward": ("Argsort", "Argsort"),
    "TopK": ("TopK", "Topk"),
    "NMSKeep": ("NMSKeep", "Nms"),
    "RNGOpr": ("RNGOpr", "Normal Uniform Dropout"),
    "Broadcast": ("Broadcast", "BroadcastTo BroadcastLike"),
    "Dimshuffle": ("Dimshuffle", "Transpose"),
    "AxisAddRemove": ("AxisAddRemove", "ExpandDims Squeeze"),
    "Subtensor": ("Subtensor", "Slice"),
    "SetSubtensor": ("SetSubtensor", "SliceSet"),
    "IndexingMultiAxisVec": ("IndexingMultiAxisVec", "IndexGet"),
    "IndexingSetMultiAxisVec": ("IndexingSetMultiAxisVec", "IndexSet"),
    "CondTake": ("CondTake", "MaskGet"),
}


def _modes():
    """MegEngine's name of the mode, by the name of a record of a family that has modes."""
    by_record = {name: mode.upper() for mode, name in {**ELEMWISE_MODES, **REDUCE_MODES}.items()}
    elementwise = [r["name"] for r in _core.op_table() if family_of(r["opdef"]) == "Elemwise"]
    return {name: name.upper() for name in elementwise} | by_record


@functools.cache
def _families():
    listed = {name: family for family, (_, names) in FAMILIES.items() for name in names.split()}
    elementwise = (r["opdef"] for r in _core.op_table() if r["lowering"] == "elementwise")
    return {name: "Elemwise" for name in elementwise} | listed


def family_of(opdef_name):
    """MegEngine's class for a record; None: it has none."""
    return _families().get(opdef_name)


MODES = _modes()
