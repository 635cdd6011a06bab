// For NVRTC, which has the device side of <float.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<float.h>)
#include_next <float.h>
#endif
#endif
