"""The charting scripts that the page carries, so that it needs no network."""

from __future__ import annotations

import re
from functools import cache

from biasledger.reporting.charts import VEGA_LITE


@cache
def chart_scripts() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, put together once per process (seconds).

    It may stand inside a script element: what would end one early is written so that it does not.
    """
    import vl_convert

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    # Browsers turn each line end into \n before they hash a script; a text with \x3c/script is the same text.
    return re.sub(r"<(?=/script|!--)", r"\\x3c", script.replace("\r\n", "\n").replace("\r", "\n"), flags=re.I)
