"""Trees whose splits are stochastic linear tests of many columns."""
