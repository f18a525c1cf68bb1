"""Whether a task is fit to grade with: what `adjudge doctor TASK` finds out by trying."""
