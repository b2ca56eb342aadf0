"""What a row is told by a tree that was grown without it."""
