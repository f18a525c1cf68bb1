"""The verbs of the command line and of the library: what joins the stages."""
