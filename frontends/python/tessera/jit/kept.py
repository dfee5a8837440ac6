"""The recordings that a traced function keeps, and which of them serves a call."""

import weakref

from .. import _core
from .explaining import call_text, tell_recording
from .mismatch import is_same
from .sizes import nearest, without_sizes
from .telling import warn_once


class Kept:
    """Part of `trace`: its recordings by signature."""

    def _find(self, key, tensors):
        """A recording for the call, and whether it is one for these arguments for certain."""
        unknown = None
        for variant in self._variants.get(key, ()):
            is_certain = variant.match(tensors)
            if is_certain:
                return variant, True
            if is_certain is not None:
                unknown = unknown or variant
        return unknown, False

    def _of_other_sizes(self, key, tensors):
        """A recording that may serve the call but for sizes; None: there is none."""
        is_fixed = self.record_only or self.capture_as_const or self.has_own_sizes
        if is_fixed or self._limit_of_device(tensors):  # a program for the sizes of this call
            return None
        variants = [each for kept in self._variants.values() for each in kept]
        return nearest(variants, key, tensors)

    def _share(self, key, variant, tensors):
        """Takes the program of a call with other sizes, where there is one and none of its own."""
        if variant.program is None and variant.sized is None:
            known = self._of_other_sizes(key, tensors)
            if known is not None:
                variant.share(known)

    def _keep(self, key, variant, tensors):
        """Keeps the new recording, unless one is the same that another Python state made."""
        variants = self._variants.setdefault(key, [])
        outdated = [old for old in variants if old.fits(tensors)]
        for old in outdated:
            if is_same(old, variant):
                for path in old.forgive(variant.state):
                    warn_once(self, f"looks no more at {path}, whose changes changed nothing in it")
                self._last = old
                return old
        if variant.why is None:
            tell_recording(self, key, variant)
        sibling = variants[0].kept if variants else None
        variant.key, variant.kept = key, _core.KeptCall(sibling, self._forgetter(variant))
        variant.sizeless = without_sizes(key)
        variant.eager = variant.eager or self.imperative
        variants.insert(0, variant)
        self._last = variant
        variant.kept.keep(variant.held_bytes())
        return variant

    def _forgetter(self, variant):
        """A function to call when `variant` must go."""
        trace, call = weakref.ref(self), weakref.ref(variant)  # who is kept keeps nobody alive

        def _forget(for_bytes):
            if trace() is not None and call() is not None:
                trace()._forget(call(), for_bytes)

        return _forget

    def _forget(self, variant, for_bytes):
        """Its next call is recorded anew."""
        variants = self._variants.get(variant.key, [])
        if variant not in variants:
            return
        variants.remove(variant)
        if not variants:
            del self._variants[variant.key]
        if self._last is variant:
            self._last = None
        if for_bytes:
            warn_once(self, "forgets signatures used least recently: see config.set_trace_limit")

    def program(self):
        """The compiled program of the last call; None before the second call of its signature."""
        return None if self._last is None else self._last.program

    def explain(self):
        """Each call kept: its arguments, what its program takes, and behind it what of Python's
        state is not compared, why it was recorded beside earlier ones, with the line, each kernel
        of products, convolutions and the like with the reason for it, and each rewrite that
        `numerics="fast"` allowed.

        `TESS_LOG=recompiles` writes the latter when it happens; the 8th recording of a function
        warns.
        """
        lines = []
        for variants in self._variants.values():
            for variant in reversed(variants):
                program = variant.program
                cost = "not compiled yet"
                if program is not None:
                    cost = f"{program.launches} launches, {program.planned_bytes} bytes planned"
                if variant.sized is not None:
                    cost += ", serves other sizes"
                elif variant.fixed is not None:
                    cost += f", serves these sizes only: {variant.fixed}"
                lines.append(f"{call_text(self, variant)}: {cost}")
                lines += [f"  {variant.why}"] if variant.why else []
                lines += [f"  kernel: {each}" for each in variant.kernel_choices()]
                lines += [f"  fast: {each}" for each in variant.rewrites()]
                lines += [f"  not compared: {each}" for each in variant.state.unwatched]
        return "\n".join(lines)
