// For NVRTC, which has this header's device side built in.
