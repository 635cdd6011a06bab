/* Includes pygpu/ptr_wrapper.h under the name that PybindGPU's header has. */
#include "pygpu/ptr_wrapper.h"
