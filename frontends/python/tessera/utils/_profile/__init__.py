"""A profile as tables, pictures and pages: see README.md."""
