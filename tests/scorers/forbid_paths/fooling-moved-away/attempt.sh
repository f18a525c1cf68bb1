mv secrets/key secret-no-more
