"""Sets as bits: counting, finding, removing and writing out members. A set is a non-negative int64."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from lostcfr.kernels.jit import leaf

BYTES_OF = np.array([sum(1 << 8 * k for k in range(8) if members >> k & 1) for members in range(256)], np.uint64)


@intrinsic
def _ctpop(typing_context: Any, x: Any) -> Any:
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def _cttz(typing_context: Any, x: Any) -> Any:
    zero_is_defined = cgutils.false_bit
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(args[0], zero_is_defined)


@intrinsic
def _ctlz(typing_context: Any, x: Any) -> Any:
    zero_is_defined = cgutils.false_bit
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctlz(args[0], zero_is_defined)


@intrinsic
def _store8(typing_context: Any, out: Any, row: Any, column: Any, word: Any) -> Any:
    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = arrayobj.make_array(out)(context, builder, args[0])
        place = cgutils.get_item_pointer(context, builder, out, array, args[1:3], wraparound=False)
        builder.store(args[3], builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, types.uint64), store


def count(members):
    """Number of set bits."""
    return int(members).bit_count()


def lowest(members):
    """Position of the lowest set bit; 64 for the empty set."""
    return (int(members) & -int(members)).bit_length() - 1 if members else 64


def highest(members):
    """Position of the highest set bit; -1 for the empty set."""
    return int(members).bit_length() - 1


def store8(out, row, column, word):
    """Write the eight bytes of a u8, lowest first, to ``out[row, column : column + 8]`` (u1 [.., ..]).

    One machine store: neither negative indices nor the bounds are looked at.
    """
    out[row, column : column + 8] = np.frombuffer(np.uint64(word).tobytes(), np.uint8)


@overload(count, inline="never")
def _count(members):
    return lambda members: _ctpop(members)


@overload(lowest, inline="never")
def _lowest(members):
    return lambda members: _cttz(members)


@overload(highest, inline="never")
def _highest(members):
    return lambda members: 63 - _ctlz(members)


@overload(store8, inline="never")
def _store(out, row, column, word):
    return lambda out, row, column, word: _store8(out, row, column, word)


@leaf
def without_lowest(members):
    """The set less its lowest member."""
    return members & (members - 1)


@leaf
def nth(members, n):
    """Position of the member with ``n`` members below it; the set must hold more than ``n``."""
    for _ in range(n):
        members &= members - 1
    return lowest(members)


@leaf
def sum_of_positions(members):
    """Sum of the positions of the set bits, all below 16: each binary digit of the positions counted at once."""
    return (
        count(members & 0xAAAA)
        + 2 * count(members & 0xCCCC)
        + 4 * count(members & 0xF0F0)
        + 8 * count(members & 0xFF00)
    )


@leaf
def bytes_of(members):
    """A u8 whose k-th byte is 1 where ``members`` holds k, for k below 8."""
    return BYTES_OF[members & 0xFF]
