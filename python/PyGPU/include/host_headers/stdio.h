// For NVRTC, which has the device side of <stdio.h> built in and no headers of the host.
#ifdef __has_include_next
#if __has_include_next(<stdio.h>)
#include_next <stdio.h>
#endif
#endif
