/* PybindGPU's name for this header. */
#include "pygpu/ptr_wrapper.h"
