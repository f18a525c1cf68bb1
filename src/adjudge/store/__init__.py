"""What adjudge keeps: blobs, and in time the records that point to them."""
