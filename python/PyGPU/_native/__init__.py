"""What PyGPU's own surface has in Python: printing, foreign allocators, types of C, files of vendors."""
