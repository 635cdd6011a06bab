"""What tests/helpers/soak.py does to its arrays: what it chooses, and the operations in one table."""
