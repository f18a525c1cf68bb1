"""The REST API, one module per resource, which exports `router`; mounted at `/api/v1`."""
