"""Finding secret-like strings in text. What is scanned is for `adjudge.evidence.secrets` to say."""
