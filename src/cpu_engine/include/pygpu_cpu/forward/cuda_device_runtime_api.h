// Empty: pygpu_cpu.h, which is included before every source, has all of it.
