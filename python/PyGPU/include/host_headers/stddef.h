// For NVRTC, which has the device side of <stddef.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<stddef.h>)
#include_next <stddef.h>
#endif
#endif
