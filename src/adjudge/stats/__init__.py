"""Statistics of results: intervals, agreement, repeated trials. Pure and synchronous."""
