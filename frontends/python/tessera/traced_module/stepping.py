"""Runs of a graph that see every value: here, in the graphs that are called and in bodies."""

import functools


class Steps:
    """One run, expression by expression. A subclass says what to do with what it sees."""

    def seen(self, graph, expr, nodes, values):
        """The nodes have these values: outputs of `expr`; None: inputs of the graph."""

    def run(self, graph, values):
        """The result of `graph` for the values of its inputs, by ids."""
        self.seen(graph, None, graph.inputs, [values[id(node)] for node in graph.inputs])
        for expr in graph.own_exprs:
            try:
                found = self._outputs(expr, values)
            except Exception as error:
                if not getattr(error, "__notes__", None):  # the innermost one says where it is
                    error.add_note(f"in %{expr.id} of {graph.qualname}: {expr} ({expr.line})")
                raise
            self.seen(graph, expr, expr.outputs, found)
            values.update((id(node), v) for node, v in zip(expr.outputs, found, strict=True))
        return graph.signature.filled(graph.output_tree, values)

    def _outputs(self, expr, values):
        called = getattr(expr, "graph", None)
        run = None if called is None else functools.partial(self._call, called)
        return expr.values_of(values, run, self._body)

    def _call(self, graph, args, kwargs):
        module, *rest = args
        inner = {id(graph.owner_input): module}
        graph.signature.bind(graph.name, inner, rest, kwargs)
        return self.run(graph, inner)

    def _body(self, body, values):
        """The function that a body is."""

        def _call(*args):
            own = dict(values)
            body.signature.bind(body.name, own, args, {})
            return self.run(body, own)

        return _call
