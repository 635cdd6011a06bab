"""Arguments of kernels and of functions of ctypes: C types, structs, host arrays, and errors for rejected arguments."""
