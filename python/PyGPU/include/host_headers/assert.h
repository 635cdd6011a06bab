// For NVRTC, which has the device side of <assert.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<assert.h>)
#include_next <assert.h>
#endif
#endif
