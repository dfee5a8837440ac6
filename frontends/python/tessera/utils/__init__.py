"""Looking at models and at the machine underneath."""
