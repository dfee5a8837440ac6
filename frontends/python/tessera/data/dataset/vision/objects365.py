"""Objects365: boxes of 365 classes."""

from .annotations import AnnotatedDataset


class Objects365(AnnotatedDataset):
    """Photographs with boxes of 365 classes; parts and arguments are those of AnnotatedDataset."""

    source = "https://www.objects365.org"

    @property
    def class_names(self):
        """The names of the file's categories, as "boxes_category" counts them, from 1."""
        return tuple(self.cats[number]["name"] for number in sorted(self.cats))
