"""Names of the operators of a trace: the path of the module that calls them."""

from .. import _core

__all__ = ["AutoNaming"]


class AutoNaming:
    """The path of modules around the calls of this thread, by MegEngine's names.

    `trace.dump(keep_opr_name=True)` names an operator by it. Modules enter it by themselves; a
    function that is none may do so, too:

    >>> from tessera.utils.naming import AutoNaming
    >>> AutoNaming.push_scope("head")
    >>> AutoNaming.get_scope()
    'head'
    >>> AutoNaming.pop_scope()
    >>> AutoNaming.get_scope()
    ''
    """

    @staticmethod
    def push_scope(scope):
        """Enters the scope within the present one; None for one without a name."""
        _core.push_scope("" if scope is None else scope)

    @staticmethod
    def pop_scope():
        """Leaves the scope that was entered last."""
        _core.pop_scope()

    @staticmethod
    def get_scope():
        """The path, joined by dots; empty outside of every scope."""
        return _core.current_scope()

    @staticmethod
    def clear():
        """Changes nothing: each recording has the names of its own operators only."""
