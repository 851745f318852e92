"use strict";
// Filters the table of findings. Texts of a warehouse are only ever set as text.
(() => {
  const { button, element, offerFile } = charts;
  const byId = (id) => document.getElementById(id);

  // ---- the table of findings: filtered, sorted, paged; what is chosen stands in the address, so that it can be sent ----
  const PAGE = 50;
  const PRINTED = 10_000; // a browser takes minutes and gigabytes for ten times as many
  const OF_A_TABLE = 250; // on paper, where the time for one table grows with the square of its rows
  const { fields, texts, rows } = JSON.parse(byId("findings-data").textContent);
  const place = Object.fromEntries(fields.map((name, at) => [name, at]));
  const text = (row, name) => texts[row[place[name]]];
  const inputs = { text: byId("filter-text") };
  const headings = [...document.querySelectorAll(".findings th[data-field]")];
  const numeric = new Set(["value", "threshold", "interval", "p"]);
  let found = rows;
  let first = 0;
  let sorted = { field: "", down: false };

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
    const lines = shown.map((row) => line(row, all));
    byId("findings-rows").replaceChildren(...(all ? lines.splice(0, OF_A_TABLE) : lines));
    const table = document.querySelector(".findings");
    document.querySelectorAll(".findings ~ .findings").forEach((one) => one.remove());
    while (all && lines.length) {
      const next = table.cloneNode(false);
      next.append(table.tHead.cloneNode(true), element("tbody", "", ...lines.splice(0, OF_A_TABLE)));
      table.parentElement.append(next);
    }
    const number = (n) => n.toLocaleString("en");
    const isFiltered = found.length !== rows.length;
    const what = isFiltered ? `match${found.length === 1 ? "" : "es"} (${number(rows.length)} findings in total)` : `finding${found.length === 1 ? "" : "s"}`;
    const start = all ? 0 : first;
    byId("findings-count").textContent = shown.length
      ? `${number(start + 1)} to ${number(start + shown.length)} of ${number(found.length)} ${what}.${all && found.length > PRINTED ? " Filters choose which are printed; the CSV has all." : ""}`
      : `No matches (${number(rows.length)} findings in total).`;
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
  addEventListener("hashchange", () => { if (restore()) byId("findings").focus(); });

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
    offerFile("findings.csv", "text/csv", `\ufeff${[fields.join(","), ...lines, ""].join("\r\n")}`);
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
  const tables = [...document.querySelectorAll(".picture:has(.chart) .numbers")].map((place) => [place, place.querySelector(".scroll")]);
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
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((one) => { one.open = false; });
    for (const [place, table] of tables) place.append(table);
    byId("appendix").querySelectorAll("h3").forEach((one) => one.remove());
    byId("appendix").hidden = true;
    show();
  });
})();
