// Nothing: all of it stands before every source already (pygpu_cpu.h).
