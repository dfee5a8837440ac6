"""The cases are imported by name, by the test and by the recorder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
