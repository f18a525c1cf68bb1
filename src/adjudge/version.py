"""The version, in a module so light that `adjudge --version` can afford it."""

__version__ = "0.1.0.dev0"
