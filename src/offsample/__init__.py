"""Choices of supervised learning on tables, made by the error to expect off the sample."""

__version__ = "0.1.0"
