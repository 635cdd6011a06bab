// For NVRTC, which has the device side of <stdint.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<stdint.h>)
#include_next <stdint.h>
#endif
#endif
