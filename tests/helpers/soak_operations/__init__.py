"""Operations and random choices of tests/helpers/soak.py."""
