"""What a change did to the tests: which checks were lost or made to say less, which tests no longer run.

Tests are matched across versions by name, then by body, then by the checks they share; so a test that was
renamed, moved, split, given parameters or ported to another runner is compared with itself. A check that
stands in another place afterwards, or in a helper that the test calls, is not lost. Whatever has an innocent
reading is read that way: a wrong "weakened" accuses an honest attempt.
"""
