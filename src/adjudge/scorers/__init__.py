"""The checks, one file per type, grouped by what they look at.

A scorer does no work of its own: it says what evidence it needs and turns what it gets into a verdict.
Collectors are in `adjudge.evidence`; who asks whom, and what a crash means, is the engine's affair.
"""
