"""Implementation of PybindGPU's names: statuses, pointers, arrays and allocators per dtype, `cuda*` and `nvml*`."""
