"""Networks of int8 beside peers. Tessera reads the file that they compile; it computes floats."""

from compiled import named
from peers import catalog

BENCHMARKS = named("int8_", catalog.INTEGERS, "integers", is_exact=False)
