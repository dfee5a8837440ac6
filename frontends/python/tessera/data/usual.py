"""The sampler of a loader that is given numbers instead of one."""

from .dataset import StreamDataset
from .sampler import RandomSampler, SequentialSampler, StreamSampler


def sampler_of(dataset, batch_size, shuffle, drop_last, seed):
    """A sampler with these settings."""
    if not isinstance(shuffle, bool):
        raise TypeError(f"DataLoader: shuffle must be a bool, got {shuffle!r}")
    if not isinstance(dataset, StreamDataset):
        if shuffle:
            return RandomSampler(dataset, batch_size, drop_last, seed=seed)
        return SequentialSampler(dataset, batch_size, drop_last)
    if shuffle or drop_last:
        raise ValueError(
            f"DataLoader: shuffle and drop_last must be False for a stream, got {shuffle} and "
            f"{drop_last}"
        )
    return StreamSampler(batch_size)


def check_no_settings(batch_size, shuffle, drop_last, seed):
    """ValueError unless all are as where they are not given: a sampler has its own."""
    given = {"batch_size": batch_size != 1, "shuffle": shuffle, "drop_last": drop_last,
             "seed": seed is not None}  # fmt: skip
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise ValueError(
            f"DataLoader: batch_size, shuffle, drop_last and seed must be the sampler's where one "
            f"is given, got {', '.join(names)}"
        )
