"""Derivatives, integrals, interpolation, filters and polynomials."""
