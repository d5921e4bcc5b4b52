"""Training and export of Tocsin's model packages (docs/model-packages.md)."""
