"""Agents: what turns an instruction into changes. Found through `adjudge.catalog`, one file per type.

An agent drives itself through its turns and says how that went; where it runs, what limits it, when it is
stopped and what is captured afterwards is the business of `adjudge.workflows.attempt`.
"""
