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

  // Names next to points, where they overlap neither each other nor a point: Vega can, Vega-Lite has no word for it.
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
    // Space for names, but never more than for what is measured.
    const [most, share] = spec.usermeta && spec.usermeta.has_long_names ? [520, 0.5] : [340, 0.36];
    const space = Math.min(most, Math.max(118, width * share));
    const axis = {
      ...config.axis,
      labelLimit: space,
      ...(width < 400 ? { labelFontSize: 11, titleLimit: width - 10, titleAnchor: "end" } : {}),
    };
    // Where that would cut rows' names to the same beginnings, they stand above their rows, as wide as the chart.
    const isCut = width < 400 && spec.usermeta && spec.usermeta.rows
      && spec.data.values.some((row) => row[spec.usermeta.rows].length * CHARACTER > space);
    const above = isCut
      ? { ...config.axisYBand, labelAlign: "left", labelBaseline: "bottom", labelOffset: -10, labelPadding: 0, labelLimit: width - 20 }
      : config.axisYBand;
    if (isCut) {
      spec.height *= 2;
      for (const layer of spec.layer) if (layer.mark.type === "bar") layer.mark.height = 12; // below the name
    }
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

  // ---- the table of findings: filtered, sorted, paged; what is chosen stands in the address, so that it can be sent ----
  const PAGE = 50;
  const PRINTED = 1_000; // a browser takes minutes and gigabytes for ten times as many
  const { fields, texts, rows } = JSON.parse(byId("findings-data").textContent);
  const place = Object.fromEntries(fields.map((name, at) => [name, at]));
  const text = (row, name) => texts[row[place[name]]];
  const inputs = { text: byId("filter-text") };
  const headings = [...document.querySelectorAll(".findings th[data-field]")];
  const numeric = new Set(["value", "threshold", "interval", "p"]);
  let found = rows;
  let first = 0;
  let sorted = { field: "", down: false };

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children); // a string becomes a text, never HTML
    return made;
  };
  const button = (label, act) => {
    const made = element("button", "", label);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };
  const asNumber = (shown) => Number.parseFloat(shown.replace("−", "-").replace(/[,<]/g, ""));
  const statusText = (key) => byId(`status-${key}`).content.textContent.trim();

  for (const select of byId("filter").querySelectorAll("select")) {
    const name = select.id.slice("filter-".length);
    inputs[name] = select;
    const values = [...new Set(rows.map((row) => text(row, name)))];
    if (name !== "status") values.sort();
    for (const value of values) select.add(new Option(name === "status" ? statusText(value) : value, value));
    select.parentElement.hidden = values.length < 2; // nothing to choose from
  }

  const copy = async (content, from) => {
    const label = from.textContent;
    try {
      await navigator.clipboard.writeText(content);
      from.textContent = "Copied";
    } catch {
      from.textContent = "Not allowed here";
    }
    setTimeout(() => { from.textContent = label; }, 1500);
  };

  // On paper, thousands of rows have no drawings and no buttons: those take most of the time.
  const line = (row, isPrinted) => {
    const command = `biasledger explain ${text(row, "id")}`;
    const status = text(row, "status");
    const offer = isPrinted ? "" : button("Copy", () => copy(command, offer));
    if (offer) {
      offer.className = "copy";
      offer.setAttribute("aria-label", `Copy ${command}`);
    }
    return element(
      "tr", "",
      element(
        "td", "",
        isPrinted
          ? element("span", `status status-${status}`, statusText(status))
          : byId(`status-${status}`).content.cloneNode(true),
      ),
      element(
        "td", "what",
        element("bdi", "", text(row, "sentence")),
        element(
          "span", "small", `${text(row, "measure")} · `, element("bdi", "", text(row, "about")), " · ",
          element("bdi", "", text(row, "audit")), " · ", element("code", "", command), " ", offer,
        ),
      ),
      ...headings.slice(2).map((heading) => {
        const cell = element("td", "number", text(row, heading.dataset.field));
        cell.dataset.label = heading.textContent;
        return cell;
      }),
    );
  };

  const show = (all) => {
    const shown = all ? found.slice(0, PRINTED) : found.slice(first, first + PAGE);
    byId("findings-rows").replaceChildren(...shown.map((row) => line(row, all)));
    const number = (n) => n.toLocaleString("en");
    const of = found.length === rows.length ? "" : ` that fit, of ${number(rows.length)}`;
    const start = all ? 0 : first;
    byId("findings-count").textContent = shown.length
      ? `${number(start + 1)} to ${number(start + shown.length)} of ${number(found.length)} finding${found.length === 1 ? "" : "s"}${of}.${all && found.length > PRINTED ? " Filters choose which are printed; the CSV has all." : ""}`
      : `No finding fits, of ${number(rows.length)}.`;
    byId("previous").disabled = first === 0;
    byId("next").disabled = first + PAGE >= found.length;
    byId("pager").hidden = found.length <= PAGE;
    for (const heading of headings) {
      const order = sorted.field === heading.dataset.field ? (sorted.down ? "descending" : "ascending") : "none";
      heading.setAttribute("aria-sort", order);
    }
  };

  const choose = () => {
    // Each word has to stand somewhere in the row; each different text is searched once, however many rows have it.
    const words = inputs.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const lower = words.length ? texts.map((one) => one.toLowerCase()) : [];
    const fits = words.map((word) => lower.map((one) => one.includes(word)));
    const chosen = Object.entries(inputs).filter(([name, input]) => name !== "text" && input.value);
    found = rows.filter(
      (row) => chosen.every(([name, input]) => text(row, name) === input.value)
        && fits.every((fit) => row.some((one) => fit[one])),
    );
    if (sorted.field) {
      const way = sorted.down ? -1 : 1;
      const key = (row) => (numeric.has(sorted.field) ? asNumber(text(row, sorted.field)) : text(row, sorted.field));
      const compare = (one, other) => {
        if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other); // last, either way
        return way * (typeof one === "number" ? one - other : one.localeCompare(other));
      };
      found = found.map((row) => [key(row), row]).sort(([one], [other]) => compare(one, other)).map(([, row]) => row);
    }
  };

  const MARK = "#findings?";
  const remember = () => {
    const state = new URLSearchParams();
    for (const [name, input] of Object.entries(inputs)) if (input.value) state.set(name, input.value);
    if (sorted.field) state.set("sort", (sorted.down ? "-" : "") + sorted.field);
    if (first) state.set("from", first);
    history.replaceState(null, "", state.size ? MARK + state : "#findings");
  };
  const filter = () => {
    choose();
    first = 0;
    show();
    remember();
  };
  const restore = () => {
    if (!location.hash.startsWith(MARK)) return false;
    const state = new URLSearchParams(location.hash.slice(MARK.length));
    for (const [name, input] of Object.entries(inputs)) input.value = state.get(name) ?? "";
    const sort = state.get("sort") ?? "";
    const field = sort.replace("-", "");
    sorted = { field: headings.some((one) => one.dataset.field === field) ? field : "", down: sort.startsWith("-") };
    choose();
    first = Math.min(Math.max(0, Number.parseInt(state.get("from"), 10) || 0), Math.max(0, found.length - 1));
    show();
    byId("findings").scrollIntoView();
    return true;
  };
  addEventListener("hashchange", restore);

  for (const heading of headings) {
    const { field } = heading.dataset;
    heading.replaceChildren(button(heading.textContent, () => {
      // Numbers begin with the largest, texts with the first; the third time the order is that of need again.
      const starts = numeric.has(field);
      if (sorted.field !== field) sorted = { field, down: starts };
      else if (sorted.down === starts) sorted.down = !starts;
      else sorted = { field: "", down: false };
      filter();
    }));
  }
  for (const link of document.querySelectorAll(".outcome")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { audit, attribute } = link.dataset;
      location.hash = MARK + new URLSearchParams({ audit, attribute });
      byId("findings").focus();
    });
  }

  // A spreadsheet takes what begins so for a formula; the numbers are ours.
  const FORMULA = /^[=+\-@\t\r＝＋－＠]/;
  const csvCell = (name, shown) => {
    const plain = numeric.has(name) ? shown.replaceAll("−", "-") : shown.replace(FORMULA, "'$&");
    return `"${plain.replaceAll('"', '""')}"`;
  };
  byId("csv").addEventListener("click", () => {
    const lines = found.map((row) => fields.map((name) => csvCell(name, text(row, name))).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", [fields.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }));
    link.download = "findings.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  for (const block of document.querySelectorAll("details.sql")) {
    const offer = button("Copy", () => copy(block.querySelector("code").textContent, offer));
    offer.className = "copy";
    block.querySelector("pre").before(offer);
  }

  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("filter").addEventListener("input", filter);
  byId("filter").addEventListener("reset", () => setTimeout(() => { sorted = { field: "", down: false }; filter(); }));
  byId("previous").addEventListener("click", () => { first = Math.max(0, first - PAGE); show(); remember(); });
  byId("next").addEventListener("click", () => { first += PAGE; show(); remember(); });
  byId("filter").hidden = byId("printing").hidden = false;
  if (!restore()) show();

  // ---- print: every finding that fits, what is folded unfolded, numbers as an appendix; SQL only where it is asked for ----
  let unfolded = [];
  const tables = [...document.querySelectorAll(".numbers")].map((place) => [place, place.querySelector(".scroll")]);
  addEventListener("beforeprint", () => {
    byId("appendix").hidden = !byId("print-numbers").checked || !tables.length;
    document.documentElement.dataset.numbers = byId("appendix").hidden ? "" : "printed";
    for (const [place, table] of tables) {
      const title = place.closest(".picture").querySelector("h3").textContent;
      if (!byId("appendix").hidden) byId("appendix").append(element("h3", "", title), table);
    }
    const printed = `details:not([open], .numbers${byId("print-sql").checked ? "" : ", .sql"})`;
    unfolded = [...document.querySelectorAll(printed)];
    unfolded.forEach((one) => { one.open = true; });
    document.documentElement.dataset.sql = byId("print-sql").checked ? "printed" : "";
    show(true);
    places.forEach(draw);
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((one) => { one.open = false; });
    for (const [place, table] of tables) place.append(table);
    byId("appendix").querySelectorAll("h3").forEach((one) => one.remove());
    byId("appendix").hidden = true;
    show();
  });
})();
