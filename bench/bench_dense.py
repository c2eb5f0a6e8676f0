"""Why the extension is kept: one row and small batches of a small network, against numpy and torch.

The limit at one row is the traffic of the weights of non-zero inputs. Compare within one run; the extension
earns its place while it is ahead at one row of 128 units, the size of a network that plays at the terminal.
"""

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from lostcfr.kernels import dense

FEATURES, ACTIONS, LAYERS = 468, 106, 3
DENSITY = 0.12  # of features that are not zero in mid-game


def network(hidden):
    generator = np.random.default_rng(0)
    widths = [FEATURES, *[hidden] * (LAYERS - 1), ACTIONS]
    return [
        (generator.normal(0, a**-0.5, (a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in zip(widths[:-1], widths[1:], strict=True)
    ]


def with_extension(features, scales, layers):
    out = np.empty((len(features), ACTIONS), np.float32)
    return lambda: dense.forward(features, scales, layers, out, 0, len(features))


def with_numpy(features, scales, layers):
    def forward():
        hidden = features * scales
        for weights, bias in layers[:-1]:
            hidden = np.maximum(hidden @ weights + bias, 0)
        return hidden @ layers[-1][0] + layers[-1][1]

    return forward


def with_torch(features, scales, layers):
    weights = [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in layers]
    scale = torch.from_numpy(scales)

    @torch.inference_mode()
    def forward():
        hidden = torch.from_numpy(features) * scale
        for w, b in weights[:-1]:
            hidden = torch.relu(torch.addmm(b, hidden, w))
        return torch.addmm(weights[-1][1], hidden, weights[-1][0])

    return forward


@pytest.mark.parametrize("hidden", [128, 512])
@pytest.mark.parametrize("rows", [1, 16, 256])
@pytest.mark.parametrize("way", [with_extension, with_numpy, with_torch])
def test_forward(measure, way, rows, hidden):
    """On one thread each: a second thread of numpy or torch only waits for the other on batches of this size."""
    features = (np.random.default_rng(1).random((rows, FEATURES)) < DENSITY).astype(np.uint8)
    forward = way(features, np.ones(FEATURES, np.float32), network(hidden))
    torch.set_num_threads(1)
    with threadpool_limits(1):
        measure(lambda: [forward() for _ in range(20)], units=20 * rows)
