"""PyCUDA's module ``pycuda.curandom``: `rand`, random generators, and tables of Sobol sequences."""

from PyGPU._names import public_modules as _public_modules
from PyGPU._pycuda.curandom.direction_vectors import (
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
    get_curand_version,
)
from PyGPU._pycuda.curandom.pseudo import (
    MRG32k3aRandomNumberGenerator,
    Philox4_32_10RandomNumberGenerator,
    XORWOWRandomNumberGenerator,
)
from PyGPU._pycuda.curandom.seeds import rand, seed_getter_uniform, seed_getter_unique
from PyGPU._pycuda.curandom.sobol import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
)

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "Philox4_32_10RandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]


_public_modules.publish(globals())
