"use strict";
(() => {
  const status = document.getElementById("status");
  const tables = [...document.querySelectorAll("table.sortable")];

  // Tables that share a group, such as the blocks of one wide table, keep one order of their rows.
  function sort(head) {
    const table = head.closest("table");
    const own = tables.filter((each) => each.dataset.group === table.dataset.group);
    const rows = [...table.tBodies[0].rows];
    const cell = (row) => row.cells[head.cellIndex];
    const isText = rows.every((row) => cell(row).dataset.value === undefined);
    const first = isText ? "ascending" : "descending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    for (const each of own) each.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => {
      if (isText) return sign * cell(a).textContent.localeCompare(cell(b).textContent);
      const [left, right] = [a, b].map((row) => Number(cell(row).dataset.value ?? NaN));
      if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
      return sign * (left - right);
    };
    rows.sort(compare);
    const keys = rows.map((row) => row.dataset.key);
    for (const each of own) {
      const byKey = new Map([...each.tBodies[0].rows].map((row) => [row.dataset.key, row]));
      each.tBodies[0].append(...keys.map((key) => byKey.get(key)));
    }
    status.textContent = `Sorted by ${head.querySelector("button").textContent.trim()}, ${order}.`;
  }

  for (const table of tables) {
    if (table.tBodies[0].rows.length < 3) continue;
    for (const head of table.tHead.rows[0].cells) {
      if (!head.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head));
      head.prepend(button);
    }
  }

  for (const controls of document.querySelectorAll(".controls")) {
    const boxes = [...controls.querySelectorAll("input")];
    const update = () => {
      const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
      for (const part of document.querySelectorAll("[data-metric]")) part.hidden = !shown.has(part.dataset.metric);
      for (const box of document.querySelectorAll(".scroll:has([data-metric])")) {
        box.hidden = !box.querySelector("[data-metric]:not([hidden])");
      }
      status.textContent = `${shown.size} of ${boxes.length} metrics are shown.`;
    };
    for (const box of boxes) box.addEventListener("change", update);
    controls.hidden = false;
    if (boxes.some((box) => !box.checked)) update();
  }

  // The contents mark the section that is read: the last one that begins in the upper third of the window.
  const places = [...document.querySelectorAll("nav a")].map((link) => [link, document.getElementById(link.hash.slice(1))]);
  if (places.length) {
    let marked = null;
    const mark = () => {
      const begun = places.filter(([, section]) => section.getBoundingClientRect().top < innerHeight / 3);
      const link = begun.length ? begun.at(-1)[0] : null;
      if (link === marked) return;
      marked?.removeAttribute("aria-current");
      link?.setAttribute("aria-current", "true");
      if (link) link.closest("ul").scrollLeft = link.offsetLeft - 48;
      marked = link;
    };
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  }

  // On paper nothing is folded.
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open])")) opened.push(each) && (each.open = true);
  });
  addEventListener("afterprint", () => { for (const each of opened.splice(0)) each.open = false; });

  // The clipboard is not available everywhere, such as to pages of files: then a selection is copied.
  async function copy(text, group) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* the selection below */ }
    const area = document.createElement("textarea");
    area.readOnly = true;
    area.value = text;
    area.ariaLabel = "Text to copy";
    group.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    if (isCopied) area.remove();
    return isCopied;
  }

  for (const group of document.querySelectorAll(".copy")) {
    group.append("Copy as");
    for (const text of group.querySelectorAll("template")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text.dataset.form;
      button.ariaLabel = `Copy as ${text.dataset.form}`;
      button.addEventListener("click", async () => {
        group.querySelector("textarea")?.remove();
        const isCopied = await copy(text.content.textContent, group);
        status.textContent = isCopied ? `Copied as ${text.dataset.form}.` : "Not copied: the text is selected.";
        button.classList.toggle("copied", isCopied);
        setTimeout(() => button.classList.remove("copied"), 2000);
        if (isCopied) button.focus();
      });
      group.append(button);
    }
    group.hidden = false;
  }
})();
