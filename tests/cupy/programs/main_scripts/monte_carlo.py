"""Print the option prices that CuPy's example monte_carlo.py computes from pseudorandom numbers."""

import sys

sys.path.insert(0, f"{sys.argv[1]}/examples/finance")
import cupy
import numpy
from black_scholes import black_scholes, black_scholes_kernel
from monte_carlo import compute_option_prices

rng = numpy.random.default_rng(2)
options = [rng.uniform(low, high, 12) for low, high in ((5, 30), (1, 40), (0.25, 2))]
on_device = [cupy.asarray(values) for values in options]
prices = compute_option_prices(*on_device, 0.02, 0.3, 256, 40)
print("monte carlo", *prices.tolist())
call, put = black_scholes_kernel(*on_device, 0.02, 0.3)
print("call", *call.tolist())
print("put", *put.tolist())
for module, values in ((numpy, options), (cupy, on_device)):
    expected = black_scholes(module, *values, 0.02, 0.3)
    cupy.testing.assert_allclose(call, expected[0], rtol=1e-6)
    cupy.testing.assert_allclose(put, expected[1], rtol=1e-6, atol=1e-9)
