"""The view in the browser."""
