"use strict";
// Offers each chart of a page as a file. Texts of a warehouse are only ever set as text.
const charts = (() => {
  const offerFile = (name, type, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
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

  const asSvg = (chart) => {
    const copy = chart.querySelector("svg").cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const style = getComputedStyle(document.documentElement);
    const ground = document.createElementNS(copy.namespaceURI, "rect");
    for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: "var(--card)" })) ground.setAttribute(key, value);
    copy.prepend(ground);
    const text = new XMLSerializer().serializeToString(copy);
    return text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  };
  const savePng = (name, text) => {
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((content) => offerFile(name, "image/png", content));
    });
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };
  for (const chart of document.querySelectorAll(".chart")) {
    const name = chart.dataset.chart;
    const title = chart.closest("figure").querySelector("figcaption bdi")?.textContent ?? name;
    const acts = {
      SVG: () => offerFile(`${name}.svg`, "image/svg+xml", asSvg(chart)),
      PNG: () => savePng(`${name}.png`, asSvg(chart)),
      CSV: () => offerFile(`${name}.csv`, "text/csv", `\ufeff${chart.nextElementSibling.nextElementSibling.textContent}`),
    };
    const offers = Object.entries(acts).map(([type, act]) => {
      const offer = button(type, act);
      offer.setAttribute("aria-label", `Download as ${type}: ${title}`);
      return offer;
    });
    chart.after(element("p", "offers", ...offers));
  }
  return { button, element, offerFile };
})();
