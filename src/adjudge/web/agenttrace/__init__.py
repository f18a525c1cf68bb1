"""What the Agent Trace shows of a run, made from records: cards, steps of a trace, lines of a diff.

Nothing here knows of requests or templates. Everything an agent wrote stays a string until a template
escapes it.
"""
