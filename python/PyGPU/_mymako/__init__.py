"""PyCUDA's ``pycuda._mymako``: the template engine Mako, if installed."""

try:
    from mako import *  # noqa: F403
    from mako import exceptions as exceptions, lookup as lookup, template as template
except ImportError:
    raise ImportError(
        "the template engine Mako is not installed, and this program needs it: pip install mako"
    ) from None
