"""Insertion, deletion and overwriting of elements; packing of bits."""
