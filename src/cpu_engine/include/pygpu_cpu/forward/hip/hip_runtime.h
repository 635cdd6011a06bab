// Empty, because pygpu_cpu.h, which is included before every source, declares everything that this header would.
