"""The discrete Fourier transforms of `PyGPU.fft`, with the interface of `cupyx.scipy.fft`."""

from typing import Any

from PyGPU._cupy.fft.plan_creation import get_fft_plan
from PyGPU._cupy.fft.scipy_backend import (  # SciPy's protocol of backends requires these names.
    DOMAIN as __ua_domain__,  # noqa: F401
    call as __ua_function__,  # noqa: F401
    convert as __ua_convert__,  # noqa: F401
)
from PyGPU._cupy.fft.scipy_functions import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    next_fast_len,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)
from PyGPU._names import public_modules as _public_modules

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "get_fft_plan", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "next_fast_len", "rfft",
    "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
