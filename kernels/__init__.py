"""Compiled kernels: rules, features, bots and the loops over lanes. Imported as ``lostcfr.kernels``."""

if __name__ != "lostcfr.kernels":
    raise ImportError(f"these kernels are a part of lostcfr: import them as 'lostcfr.kernels', not as '{__name__}'")
