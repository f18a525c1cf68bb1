"""The sandbox conformance suite: what `contracts.Sandbox` promises, one check per sentence.

For a backend of your own, in a test module:

    from adjudge.testing.sandbox.suite import SandboxConformance

    class TestMyBackend(SandboxConformance):
        backend = MyBackend()
        gaps = {"host_files_cannot_be_read": "containers share the host's /srv by design"}

pytest then runs every check as a test of its own. `gaps` names the promises the backend is known not to
keep, with the reason a reader should see; each becomes a strict expected failure, so that a gap which has
closed is reported and the list stays honest. `adjudge.testing.sandbox.suite.CHECKS` holds the same checks
for use without pytest.

More than half of the checks are escape attempts: a program that means harm runs inside, and what it was
after (a canary planted on the host) is looked at from outside. Every attempt stops at the point where it
would be proven, so running the suite on a backend without any isolation harms nothing.
"""
