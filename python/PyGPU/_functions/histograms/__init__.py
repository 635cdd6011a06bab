"""Histograms of one or several variables, and rules that choose the number of bins."""
