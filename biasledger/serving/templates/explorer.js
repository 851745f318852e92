"use strict";
// Steps through pages by key, says when a newer build was published. Texts are only ever set as text.
(() => {
  // ---- keys: j and k step to the next and the one before, others press a button; none while somebody types ----
  const steps = { j: "next", ArrowRight: "next", k: "prev", ArrowLeft: "prev" };
  addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [tabindex='0']");
    if (typing && event.key === "Enter" && event.ctrlKey && typing.name === "sql") typing.form.requestSubmit();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const answer = event.key in steps ? `a[rel=${steps[event.key]}]` : `[data-key="${CSS.escape(event.key)}"]`;
    document.querySelector(answer)?.click();
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
})();
