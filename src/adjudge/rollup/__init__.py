"""Many scores into one. Pure: values in, a value out."""
