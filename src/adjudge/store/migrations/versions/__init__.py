"""The revisions of the store's tables, one file each."""
