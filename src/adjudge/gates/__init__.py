"""The three independent conclusions on a run. Pure: results in, a verdict and its reason out."""
