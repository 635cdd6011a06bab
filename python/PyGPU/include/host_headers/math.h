// For NVRTC, which has the device side of <math.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<math.h>)
#include_next <math.h>
#endif
#endif
