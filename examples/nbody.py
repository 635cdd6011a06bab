"""Bodies that attract each other
==============================

Two clusters of stars meet. A kernel computes each step, with one thread for each star.
"""

import PyGPU

SOURCE = """__global__ void step(const float3 *x, float3 *v, float3 *moved, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 here = x[i], speed = v[i];
    for (int j = 0; j < n; j++) {
        float a = x[j].x - here.x, b = x[j].y - here.y, c = x[j].z - here.z;
        float r = rsqrtf(a * a + b * b + c * c + 0.01f), s = dt * r * r * r / n;
        speed = make_float3(speed.x + a * s, speed.y + b * s, speed.z + c * s);
    }
    v[i] = speed, moved[i] = make_float3(here.x + dt * speed.x, here.y + dt * speed.y, here.z + dt * speed.z);
}"""


def bodies(x: PyGPU.GPUArray, v: PyGPU.GPUArray, steps: int, dt: float = 0.01) -> PyGPU.GPUArray:
    """Move bodies with positions `x` and velocities `v`, and return the positions after a number of steps."""
    step, moved = PyGPU.Kernel(SOURCE), PyGPU.empty_like(x)
    for _ in range(steps):
        step[-(-len(x) // 128), 128](x, v, moved, len(x), dt)
        x, moved = moved, x
    return x


if __name__ == "__main__":
    from matplotlib.image import imsave

    random, side = PyGPU.random.default_rng(3), 1 - 2 * (PyGPU.arange(2000)[:, None] % 2)
    x = 0.3 * random.standard_normal((2000, 3)) + side * [1, 0.4, 0]
    x = bodies(x.astype("float32"), (side * [-0.5, 0.2, 0]).astype("float32"), 150)
    stars, _, _ = PyGPU.histogram2d(x[:, 1], x[:, 0], bins=(150, 250), range=((-1.5, 1.5), (-2.5, 2.5)))
    imsave("nbody.png", PyGPU.log1p(stars).get(), cmap="magma")
