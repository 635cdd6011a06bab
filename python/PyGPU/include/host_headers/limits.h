// For NVRTC, which has the device side of <limits.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<limits.h>)
#include_next <limits.h>
#endif
#endif
