"""What runs inside the sandbox, under the project's own Python, 3.8 or newer.

Standard library and the project's runner only. adjudge never imports these modules: it sends their text.
"""
