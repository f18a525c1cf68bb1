"""What hooks, plugins and set-up code of test runs do, read from their syntax trees."""
