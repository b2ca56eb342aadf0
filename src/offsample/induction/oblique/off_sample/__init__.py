"""Estimates of the output of a tree for rows that it has not seen."""
