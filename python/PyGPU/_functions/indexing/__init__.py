"""Index arrays, and functions applied along axes."""
