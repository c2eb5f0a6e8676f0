"""Inference of small networks on the CPU, row by row: layers of ``relu(x @ weights + bias)``, the last one linear.

The work is done input by input: each input that is not zero adds its row of weights to the outputs. Features
are mostly zero, and so are about half of all rectified units, so most of the arithmetic of a matrix product is
left out; and a single row pays no fixed cost. A row's answer depends on that row alone, bit for bit.
bench/bench_dense.py compares this with the matrix products of numpy and torch.
"""

from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

cdef enum:
    MAX_LAYERS = 16


cdef struct Network:
    Py_ssize_t layers
    Py_ssize_t widths[MAX_LAYERS + 1]  # inputs, then the outputs of each layer
    const float *weights[MAX_LAYERS]  # [inputs, outputs], C order
    const float *biases[MAX_LAYERS]


cdef void add_scaled(float scale, const float *row, float *out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += scale * row[k]


cdef void dense_layer(
    const float *inputs, Py_ssize_t n_inputs, const float *weights, const float *bias,
    float *out, Py_ssize_t n_outputs,
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_outputs):
        out[k] = bias[k]
    for k in range(n_inputs):
        if inputs[k] != 0:
            add_scaled(inputs[k], weights + k * n_outputs, out, n_outputs)


cdef void rectify(float *values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if values[k] < 0:
            values[k] = 0


cdef void forward_row(
    const Network *network, const uint8_t *features, const float *scales, float *inputs, float *hidden, float *out,
) noexcept nogil:
    """One row through all layers; ``inputs`` and ``hidden`` are scratch, each as wide as the widest layer."""
    cdef Py_ssize_t k, layer
    cdef float *swap
    for k in range(network.widths[0]):
        inputs[k] = scales[k] * features[k]
    for layer in range(network.layers - 1):
        dense_layer(inputs, network.widths[layer], network.weights[layer], network.biases[layer],
                    hidden, network.widths[layer + 1])
        rectify(hidden, network.widths[layer + 1])
        swap = inputs
        inputs = hidden
        hidden = swap
    layer = network.layers - 1
    dense_layer(inputs, network.widths[layer], network.weights[layer], network.biases[layer],
                out, network.widths[layer + 1])


cdef Network checked(Py_ssize_t n_features, Py_ssize_t n_outputs, list layers) except *:
    """The layers as pointers; ValueError where their shapes do not follow each other."""
    cdef Network network
    cdef const float[:, ::1] weights
    cdef const float[::1] bias
    if not 1 <= len(layers) <= MAX_LAYERS:
        raise ValueError(f"a network has 1 to {MAX_LAYERS} layers, but {len(layers)} are given")
    network.layers = len(layers)
    network.widths[0] = n_features
    for layer in range(network.layers):
        weights, bias = layers[layer]
        if weights.shape[0] != network.widths[layer] or weights.shape[1] != bias.shape[0]:
            raise ValueError(
                f"layer {layer} has weights of shape {weights.shape[0], weights.shape[1]} and {bias.shape[0]} "
                f"biases, but takes {network.widths[layer]} inputs and needs a bias an output"
            )
        if weights.shape[1] == 0:
            raise ValueError(f"layer {layer} has no outputs")
        network.widths[layer + 1] = weights.shape[1]
        network.weights[layer] = &weights[0, 0]
        network.biases[layer] = &bias[0]
    if network.widths[network.layers] != n_outputs:
        raise ValueError(f"the last layer has {network.widths[network.layers]} outputs, but out has {n_outputs}")
    return network


def forward(
    const uint8_t[:, ::1] features, const float[::1] scales, list layers, float[:, ::1] out,
    Py_ssize_t begin, Py_ssize_t end,
):
    """Answer the rows ``begin .. end-1`` of ``features`` without the GIL.

    features: u1 [N, F]; scales: f4 [F], the factor of each feature; layers: pairs of weights f4 [inputs, outputs]
    and biases f4 [outputs]; out: f4 [N, outputs of the last layer], written. ValueError for shapes that do not fit.
    """
    cdef Py_ssize_t row, n_rows = features.shape[0], n_features = features.shape[1], widest = 0
    cdef Network network
    cdef float *scratch
    if not (0 <= begin <= end <= n_rows and out.shape[0] == n_rows and scales.shape[0] == n_features):
        raise ValueError(
            f"{n_rows} rows of {n_features} features need as many rows of out ({out.shape[0]}), a scale a feature "
            f"({scales.shape[0]}) and begin and end within them ({begin}, {end})"
        )
    if begin == end or n_features == 0:
        raise ValueError("there is nothing to answer: no rows, or no features")
    network = checked(n_features, out.shape[1], layers)
    for layer in range(network.layers + 1):
        widest = max(widest, network.widths[layer])
    scratch = <float *> malloc(2 * widest * sizeof(float))
    if scratch == NULL:
        raise MemoryError()
    with nogil:
        for row in range(begin, end):
            forward_row(&network, &features[row, 0], &scales[0], scratch, scratch + widest, &out[row, 0])
        free(scratch)
