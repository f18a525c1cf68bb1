ln -s . here
ln -s here/../logs/verifier out
