"""Looking at models and at the machine underneath; files from the network."""
