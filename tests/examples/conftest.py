"""The examples import each other by name, as scripts of one folder do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path("frontends/examples").absolute()))  # of the runfiles
