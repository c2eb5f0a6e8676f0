"""Builds the one Cython extension; everything else about the package is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

extension = Extension(
    "lostcfr.kernels.dense",
    ["lostcfr/kernels/dense.pyx"],
    # Without contraction the compiler keeps multiply and add apart, so that sums are the same on every machine.
    extra_compile_args=["-O3", "-ffp-contract=off"],
)

setup(
    ext_modules=cythonize(
        [extension],
        build_dir="build/cython",
        compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True},
    )
)
