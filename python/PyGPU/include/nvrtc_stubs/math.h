/* Empty header for NVRTC, which declares printf(), malloc(), assert(), memcpy() and the mathematical functions itself. */
