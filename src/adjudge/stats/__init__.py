"""How sure a number is: intervals, agreement between reviewers. Pure, without dependencies."""
