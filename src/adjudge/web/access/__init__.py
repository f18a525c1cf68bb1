"""Who may ask for what: hosts and origins, users and sessions, roles, CSRF, headers."""
