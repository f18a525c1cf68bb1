"""Where code of an untrusted party runs: the backends behind `contracts.SandboxBackend`."""
