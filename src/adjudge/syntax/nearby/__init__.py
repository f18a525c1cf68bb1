"""Tests with other inputs than they were written with, which tell what the product answered."""
