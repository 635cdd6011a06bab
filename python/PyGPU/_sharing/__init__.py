"""Arrays that several processes have: named in one, opened in others."""
