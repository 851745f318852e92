"use strict";
// Draws the charts, filters the table of findings. Texts of a warehouse are only ever set as text.
(() => {
  const byId = (id) => document.getElementById(id);

  // ---- charts ----
  // Colours are the page's CSS variables, so that dark mode and print change them without drawing again.
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  const config = {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: {
      labelColor: "var(--ink-2)", titleColor: "var(--ink-2)", gridColor: "var(--grid)", domainColor: "var(--line)",
      tickColor: "var(--line)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400, titlePadding: 8,
      labelPadding: 5, titleLimit: 330,
    },
    axisY: { tickSize: 0 },
    axisYBand: { domain: false, grid: false, labelColor: "var(--ink)" },
    axisYPoint: { domain: false, grid: false, labelColor: "var(--ink)" },
    axisX: { tickCount: 6, labelOverlap: true },
  };

  const CHARACTER = 6; // about as many pixels is one wide

  // Names beside points, where they overlap neither each other nor a point: Vega can, Vega-Lite has no word for it.
  const withNames = (marks) => (vega) => {
    vega.marks.push({
      type: "text",
      from: { data: marks },
      interactive: false,
      encode: {
        enter: {
          text: { field: "datum.name" }, fill: { value: "var(--ink)" }, font: { value: font }, fontSize: { value: 12 },
        },
      },
      transform: [
        {
          type: "label", size: { signal: "[max(width, 1), max(height, 1)]" }, avoidMarks: [marks], offset: [3, 6],
          anchor: ["right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left"],
        },
      ],
    });
    return vega;
  };

  const draw = async (place) => {
    if (place.dataset.state) return;
    place.dataset.state = "drawing";
    const spec = JSON.parse(byId(place.dataset.chart).textContent);
    const names = spec.usermeta && spec.usermeta.names;
    const width = place.clientWidth;
    // Room for names, but never more than for what is measured.
    const room = Math.min(340, Math.max(118, width * 0.36));
    const axis = {
      ...config.axis,
      labelLimit: room,
      ...(width < 400 ? { labelFontSize: 11, titleLimit: 240 } : {}),
    };
    // Where that would cut rows' names to the same beginnings, they stand above their rows, as wide as the chart.
    const isCut = width < 400 && spec.usermeta && spec.usermeta.rows
      && spec.data.values.some((row) => row[spec.usermeta.rows].length * CHARACTER > room);
    const above = isCut
      ? { ...config.axisYBand, labelAlign: "left", labelBaseline: "bottom", labelOffset: -7, labelPadding: 0, labelLimit: width - 20 }
      : config.axisYBand;
    if (isCut) spec.height *= 1.75;
    try {
      // Of its own, and hidden from screen readers: Vega gives it a role and a label, and the place has said what it shows.
      const plot = document.createElement("div");
      plot.setAttribute("aria-hidden", "true");
      place.append(plot);
      await vegaEmbed(plot, spec, {
        ast: true, // expressions are walked, not compiled: the page's policy allows no eval
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
        config: { ...config, axis, axisYBand: above, axisYPoint: above },
        ...(names ? { patch: withNames(names) } : {}),
      });
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      console.error(place.dataset.chart, error);
    }
  };

  const places = [...document.querySelectorAll(".chart")];
  const whenIdle = window.requestIdleCallback || ((task) => setTimeout(task, 30));
  // What is seen is drawn first; the rest follows while nothing else is to do, so that it prints. Not so in a report on many
  // runs: that would keep the machine busy for minutes.
  const DRAWN_UNSEEN = 80;
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
    },
    { rootMargin: "400px" },
  );
  const drawRest = () => {
    const place = places.length <= DRAWN_UNSEEN && places.find((one) => !one.dataset.state);
    if (!place) {
      document.documentElement.dataset.charts = "drawn";
      return;
    }
    draw(place).then(() => whenIdle(drawRest));
  };
  places.forEach((place) => seen.observe(place));
  whenIdle(drawRest);

  // ---- print: what is folded is unfolded, and folded again ----
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((one) => { one.open = true; });
    places.forEach(draw);
  });
  addEventListener("afterprint", () => unfolded.forEach((one) => { one.open = false; }));

  // ---- the table of findings ----
  const PAGE = 50;
  const { texts, rows } = JSON.parse(byId("findings-data").textContent);
  const inputs = { text: byId("filter-text"), status: byId("filter-status"), audit: byId("filter-audit"), measure: byId("filter-measure") };
  const columns = { status: 0, audit: 1, measure: 2 };
  let found = rows;
  let first = 0;

  for (const name of ["audit", "measure"]) {
    const values = [...new Set(rows.map((row) => texts[row[columns[name]]]))].sort();
    for (const value of values) inputs[name].add(new Option(value, value));
  }

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children); // a string becomes a text, never HTML
    return made;
  };

  const line = (row) => {
    const [status, audit, measure, about, sentence, ...numbers] = row.map((text) => texts[text]);
    return element(
      "tr", "",
      element("td", "", byId(`status-${status}`).content.cloneNode(true)),
      element(
        "td", "what",
        element("bdi", "", sentence),
        element("span", "small", `${measure} · `, element("bdi", "", about), " · ", element("bdi", "", audit)),
      ),
      ...numbers.map((text) => element("td", "number", text)),
    );
  };

  const show = () => {
    const shown = found.slice(first, first + PAGE);
    byId("findings-rows").replaceChildren(...shown.map(line));
    const number = (n) => n.toLocaleString("en");
    const of = found.length === rows.length ? "" : ` that fit, of ${number(rows.length)}`;
    byId("findings-count").textContent = shown.length
      ? `${number(first + 1)} to ${number(first + shown.length)} of ${number(found.length)} findings${of}.`
      : `No finding fits, of ${number(rows.length)}.`;
    byId("previous").disabled = first === 0;
    byId("next").disabled = first + PAGE >= found.length;
  };

  const filter = () => {
    const wanted = inputs.text.value.trim().toLowerCase();
    // Each different text is searched once, however many rows have it.
    const fits = wanted ? texts.map((text) => text.toLowerCase().includes(wanted)) : null;
    const chosen = Object.entries(columns)
      .filter(([name]) => inputs[name].value)
      .map(([name, place]) => [place, inputs[name].value]);
    found = rows.filter(
      (row) => chosen.every(([place, value]) => texts[row[place]] === value) && (!fits || row.some((text) => fits[text])),
    );
    first = 0;
    show();
  };

  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("filter").addEventListener("input", filter);
  byId("previous").addEventListener("click", () => { first = Math.max(0, first - PAGE); show(); });
  byId("next").addEventListener("click", () => { first += PAGE; show(); });
  byId("filter").hidden = false;
  byId("pager").hidden = rows.length <= PAGE;
  show();
})();
