"""PyCUDA's module ``pycuda._mymako``, which imports the template engine Mako if it is installed."""

try:
    from mako import *  # noqa: F403
    from mako import exceptions as exceptions, lookup as lookup, template as template
except ImportError:
    raise ImportError(
        "the template engine Mako is not installed, and this program needs it: pip install mako"
    ) from None
