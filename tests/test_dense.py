"""Inference without torch: against the matrix product, row by row, and what it refuses."""

import numpy as np
import pytest

from lostcfr.kernels import dense

FEATURES, HIDDEN, OUTPUTS = 37, 24, 11


def network(widths, seed=0):
    generator = np.random.default_rng(seed)
    return [
        (generator.normal(size=(a, b)).astype(np.float32), generator.normal(size=b).astype(np.float32))
        for a, b in zip(widths[:-1], widths[1:], strict=True)
    ]


def rows(n, seed=1):
    generator = np.random.default_rng(seed)
    features = (generator.random((n, FEATURES)) < 0.3) * generator.integers(1, 256, (n, FEATURES))
    return features.astype(np.uint8), generator.random(FEATURES).astype(np.float32)


def slow(features, scales, layers):
    hidden = features * scales.astype(np.float64)
    for weights, bias in layers[:-1]:
        hidden = np.maximum(hidden @ weights + bias, 0)
    return hidden @ layers[-1][0] + layers[-1][1]


@pytest.mark.parametrize(
    "widths", [(FEATURES, OUTPUTS), (FEATURES, HIDDEN, OUTPUTS), (FEATURES, 50, 3, HIDDEN, OUTPUTS)]
)
def test_equals_the_matrix_product(widths):
    layers, (features, scales) = network(widths), rows(20)
    out = np.zeros((20, OUTPUTS), np.float32)
    dense.forward(features, scales, layers, out, 0, 20)
    wanted = slow(features, scales, layers)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


def test_a_row_does_not_depend_on_the_others():
    layers, (features, scales) = network((FEATURES, HIDDEN, OUTPUTS)), rows(9)
    together, alone = np.zeros((9, OUTPUTS), np.float32), np.zeros((9, OUTPUTS), np.float32)
    dense.forward(features, scales, layers, together, 0, 9)
    for row in range(9):
        dense.forward(features, scales, layers, alone, row, row + 1)
    assert together.tobytes() == alone.tobytes()


def test_only_the_asked_rows_are_written():
    layers, (features, scales) = network((FEATURES, OUTPUTS)), rows(5)
    out = np.full((5, OUTPUTS), np.nan, np.float32)
    dense.forward(features, scales, layers, out, 1, 3)
    assert np.isnan(out).all(axis=1).tolist() == [True, False, False, True, True]


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "1 to 16 layers"),
        (network((FEATURES, OUTPUTS)) * 17, "1 to 16 layers"),
        (network((FEATURES + 1, OUTPUTS)), "layer 0 has weights"),
        (network((FEATURES, HIDDEN)) + network((HIDDEN + 1, OUTPUTS)), "layer 1 has weights"),
        ([(np.zeros((FEATURES, OUTPUTS), np.float32), np.zeros(3, np.float32))], "layer 0 has weights"),
        (network((FEATURES, OUTPUTS + 1)), "the last layer has 12 outputs, but out has 11"),
    ],
)
def test_layers_that_do_not_fit(layers, message):
    features, scales = rows(2)
    with pytest.raises(ValueError, match=message):
        dense.forward(features, scales, layers, np.zeros((2, OUTPUTS), np.float32), 0, 2)


@pytest.mark.parametrize(("begin", "end"), [(-1, 2), (0, 3), (2, 1), (1, 1)])
def test_rows_that_do_not_exist(begin, end):
    features, scales = rows(2)
    with pytest.raises(ValueError, match="rows"):
        dense.forward(features, scales, network((FEATURES, OUTPUTS)), np.zeros((2, OUTPUTS), np.float32), begin, end)


def test_wrong_types_are_refused():
    features, scales = rows(2)
    out = np.zeros((2, OUTPUTS), np.float32)
    with pytest.raises(ValueError, match="dtype mismatch"):
        dense.forward(features.astype(np.float32), scales, network((FEATURES, OUTPUTS)), out, 0, 2)
