// For NVRTC, which has the device side of <string.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<string.h>)
#include_next <string.h>
#endif
#endif
