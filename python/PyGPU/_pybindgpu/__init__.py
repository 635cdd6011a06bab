"""The bodies behind PybindGPU's names: statuses, pointers, arrays and allocators per dtype, `cuda*` and `nvml*`."""
