"""For authors of plugins and for our own tests: conformance suites, fakes and builders."""
