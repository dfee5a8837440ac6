"""Sphinx's settings; `tools/dev docs` calls it."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Tessera"
html_title = "Tessera"
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "names", "operators"]
exclude_patterns = ["README.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 2
autodoc_member_order = "alphabetical"
add_module_names = False
tess_operators = os.environ.get("TESS_OPERATORS", "")
