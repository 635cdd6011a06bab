"""Histograms of one or several variables, and the rules for their numbers of bins."""
