"""Providers, one file a wire protocol, each through its official SDK (the extra `judge`)."""
