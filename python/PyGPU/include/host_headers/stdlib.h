// For NVRTC, which has the device side of <stdlib.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<stdlib.h>)
#include_next <stdlib.h>
#endif
#endif
