"""The pages, one module each, which exports `router`."""
