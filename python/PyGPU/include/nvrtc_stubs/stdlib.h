/* For NVRTC, which has printf(), malloc(), assert(), memcpy() and the mathematics without a header. */
