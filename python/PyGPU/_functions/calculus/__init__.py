"""Derivatives, integrals and values between samples; filters and polynomials."""
