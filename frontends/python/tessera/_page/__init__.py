"""Parts that the pages of this package share: see README.md."""
