"""How pictures are made: one style, and PNGs that depend on what they show alone. matplotlib is an extra."""

import io
from collections.abc import Callable
from typing import Any

from lostcfr.errors import ResourceError

# Okabe and Ito's palette: told apart with any kind of colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#767676"
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 10,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "savefig.dpi": 200,
    "xtick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.color": GREY,
    "ytick.labelcolor": "black",
}


def figure_type() -> Any:
    """matplotlib's Figure, which draws without a display; ResourceError where it is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ResourceError("a picture needs the package matplotlib: pip install 'lostcfr[plots]'") from None
    return Figure


def png(draw: Callable[[Any], None], width: float, height: float) -> bytes:
    """The PNG of a figure, ``width`` x ``height`` inches, that ``draw`` has drawn on; the same bytes every time.

    ResourceError where matplotlib is not installed.
    """
    figure_class = figure_type()
    import matplotlib

    # A person's own settings of matplotlib are left out, so that they change no picture.
    style: dict[Any, Any] = {
        name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"
    } | STYLE
    with matplotlib.rc_context(style):
        figure, file = figure_class(figsize=(width, height)), io.BytesIO()
        draw(figure)
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
