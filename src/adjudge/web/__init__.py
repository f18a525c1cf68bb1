"""The web view: pages and a REST API over the store, for one person on one machine or for several."""
