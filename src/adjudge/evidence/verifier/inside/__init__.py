"""What a verifier finds inside its sandbox, as text for `evidence.verifier.candidate`.

Standard library only: nothing of ours is there.
"""
