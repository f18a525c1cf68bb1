"""Source with probes in it: which ways through code were taken, in the languages it can be asked of."""
