"""What is seen from outside: views for notebooks, messages for `logging`, bars of what takes long."""
