"""Builds the one Cython extension; everything else about the package is in pyproject.toml."""

import os

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("LOSTCFR_DEBUG_BUILD") == "1"  # bounds checks in the extension

extension = Extension(
    "lostcfr.kernels.dense",
    ["lostcfr/kernels/dense.pyx"],
    include_dirs=[numpy.get_include()],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    # Without contraction the compiler keeps multiply and add apart, so that sums are the same on every machine.
    extra_compile_args=["-O3", "-ffp-contract=off"],
)

setup(
    ext_modules=cythonize(
        [extension],
        build_dir="build/cython",
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
        },
    )
)
