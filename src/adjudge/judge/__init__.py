"""The judge: puts the evidence before one LLM or a jury of them, and keeps what they say as it is.

`evidence` says what is shown, `fence` how it is kept apart from instructions, `prompt` puts both together,
`parsing` reads the answer, `asking` gets one vote, `jury` makes a verdict of votes. Providers are found
through the catalogue.
"""
