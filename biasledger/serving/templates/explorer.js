"use strict";
// Draws charts, steps through pages by key, says when a newer build was published. Texts are only ever set as text.
(() => {
  // ---- charts: colours are the page's CSS variables, so that dark mode changes them without drawing again ----
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  const band = { domain: false, grid: false, labelColor: "var(--ink)" };
  const config = {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      labelColor: "var(--ink-2)", titleColor: "var(--ink-2)", gridColor: "var(--grid)", domainColor: "var(--line)",
      tickColor: "var(--line)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400, titlePadding: 8, labelPadding: 5,
    },
    axisY: { tickSize: 0 },
    axisX: { tickCount: 6, labelOverlap: true },
  };

  const CHARACTER = 6; // about as many pixels is one wide

  const draw = async (place) => {
    const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    const width = place.clientWidth;
    const space = Math.max(118, width * 0.4);
    const axis = { ...config.axis, labelLimit: space, titleLimit: width * 0.9 };
    // Where that would cut rows' names to the same beginnings, they stand above their rows, as wide as the chart.
    const names = spec.usermeta && spec.usermeta.rows;
    const isCut = width < 400 && names && spec.data.values.some((row) => row[names].length * CHARACTER > space);
    const above = isCut
      ? { ...band, labelAlign: "left", labelBaseline: "bottom", labelOffset: -7, labelPadding: 0, labelLimit: width - 20 }
      : band;
    if (isCut) spec.height *= 1.75;
    // Of its own, and hidden from screen readers: Vega gives it a role and a label, and the place has said what it shows.
    const plot = document.createElement("div");
    plot.setAttribute("aria-hidden", "true");
    place.append(plot);
    try {
      await vegaEmbed(plot, spec, {
        ast: true, // expressions are walked, not compiled: the page's policy allows no eval
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
        config: { ...config, axis, axisYBand: above, axisYPoint: above },
      });
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      console.error(place.dataset.chart, error);
    }
  };

  // ---- keys: j and k step to the next and the one before, and nowhere while somebody types ----
  const steps = { j: "next", ArrowRight: "next", k: "prev", ArrowLeft: "prev" };
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [tabindex='0']");
    if (typing && event.key === "Enter" && event.ctrlKey && typing.name === "sql") typing.form.requestSubmit();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in steps)) return;
    const link = document.querySelector(`a[rel=${steps[event.key]}]`);
    if (link) link.click();
  });

  // ---- filters: a choice is applied at once; the button remains for those without scripts ----
  for (const form of document.querySelectorAll("form[data-submits]")) {
    form.addEventListener("change", (event) => {
      if (event.target.matches("select") && event.target.name !== "column") form.requestSubmit();
    });
    // Addresses that can be sent are short: what is empty is left out.
    form.addEventListener("formdata", (event) => {
      for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
    });
  }

  // ---- a phone's screen is for the findings ----
  if (matchMedia("(max-width: 40rem)").matches) {
    for (const one of document.querySelectorAll("details[data-folds]")) one.open = false;
  }

  // ---- builds: a page stays as it is, and says that it is old ----
  const POLL = 15_000;
  const notice = document.getElementById("newer");
  const look = async () => {
    if (document.hidden) return;
    let said = "";
    try {
      const published = await (await fetch("/build")).json();
      if (published.build && published.build !== document.body.dataset.build) said = "A newer build was published: reload the page to see it.";
    } catch {
      said = "The explorer has ended: start it again with biasledger serve.";
    }
    notice.textContent = said;
    notice.hidden = !said;
  };
  if (document.body.dataset.build) {
    setInterval(look, POLL);
    document.addEventListener("visibilitychange", look);
    addEventListener("focus", look);
  }

  addEventListener("DOMContentLoaded", async () => {
    for (const place of document.querySelectorAll(".chart")) await draw(place);
    document.documentElement.dataset.charts = "drawn";
  });
})();
