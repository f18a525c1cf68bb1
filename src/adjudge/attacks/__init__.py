"""Scripted attacks: ways of getting credit without doing the work, adapted to a workspace, without any model.

Each is a class behind `contracts.Attack`: it reads a target and says which files to write and which commands
to run. Running them, grading what they leave and advising on the recipe are the workflow's.
"""
