"""Arrays shared between processes: exported in one, opened in others."""
