"""Histograms of one or several variables, and the rules that choose how many bins a histogram has."""
