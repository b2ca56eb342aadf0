"use strict";
(() => {
  // The page itself, or each copy of a notebook's snippet that this script stands beside: it moves into a shadow
  // root. Where no script runs it is read as it stands, with styles that end where it does.
  const here = document.currentScript ? document.currentScript.parentNode : document;
  const roots = [...document.querySelectorAll("body > .offsample")];
  for (const host of here.querySelectorAll("[data-offsample]")) {
    if (!host.shadowRoot) {
      const parts = [...host.childNodes];
      host.attachShadow({ mode: "open" }).append(...parts);
    }
    roots.push(host.shadowRoot.querySelector(".offsample"));
  }
  for (const root of roots) {
    if (!root || root.dataset.ready) continue;
    root.dataset.ready = "yes";
    setUpTheme(root);
    setUpLinks(root);
    setUpTooltips(root);
    root.querySelectorAll("table.sortable").forEach((table) => setUpSorting(root, table));
    root.querySelectorAll(".table-block").forEach((block) => setUpFilter(root, block));
    root.querySelectorAll(".command").forEach((command) => setUpCopy(root, command));
    root.querySelectorAll(".scroll").forEach(setUpScroll);
  }

  function announce(root, text) {
    root.querySelector(".announcer").textContent = text;
  }

  // Kept in the element alone: no storage, so that nothing needs permission.
  function setUpTheme(root) {
    const button = root.querySelector(".theme-toggle");
    const label = button.querySelector(".theme-label");
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const show = () => {
      button.setAttribute("aria-pressed", String(isDark()));
      label.textContent = isDark() ? "Light" : "Dark";
    };
    const surroundings = brightnessAround(root);
    if (surroundings !== null) root.dataset.theme = surroundings < 0.5 ? "dark" : "light";
    button.hidden = false;
    button.setAttribute("aria-label", "Switch between light and dark");
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  // A notebook's theme need not be the system's: go by the colour behind the snippet.
  function brightnessAround(root) {
    const tree = root.getRootNode();
    if (!(tree instanceof ShadowRoot)) return null;
    for (let element = tree.host; element; element = element.parentElement) {
      const parts = (getComputedStyle(element).backgroundColor.match(/[\d.]+/g) || []).map(Number);
      if (parts.length === 3 || parts[3] > 0.5) return (0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2]) / 255;
    }
    return null;
  }

  // A shadow root has its own ids, which the address of the page does not reach.
  function setUpLinks(root) {
    const tree = root.getRootNode();
    root.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      const target = tree.getElementById(link.getAttribute("href").slice(1));
      if (!target) return;
      root.querySelectorAll(".is-target").forEach((element) => element.classList.remove("is-target"));
      target.classList.add("is-target");
      if (tree instanceof ShadowRoot) {
        event.preventDefault();
        target.scrollIntoView({ block: "start" });
        target.focus({ preventScroll: true });
      }
    });
  }

  function setUpTooltips(root) {
    const tooltip = root.querySelector(".tooltip");
    let current = null;
    // Titles are for pages without script; with it they would show a second tooltip.
    const tips = new Map();
    root.querySelectorAll("svg[role=img], .tree").forEach((chart) => {
      const title = chart.querySelector(":scope > title");
      if (title) {
        chart.setAttribute("aria-label", title.textContent);
        chart.setAttribute("aria-describedby", chart.querySelector(":scope > desc").id);
        chart.removeAttribute("aria-labelledby");
        title.remove();
      }
      const points = [...chart.querySelectorAll(".point")];
      points.forEach((point, i) => {
        const text = point.querySelector(":scope > title");
        tips.set(point, text ? text.textContent : point.title);
        if (text) {
          point.setAttribute("aria-label", text.textContent);
          text.remove();
        } else point.removeAttribute("title"); // a row of boxes is read out by what is in it
        point.addEventListener("pointerenter", () => show(point));
        point.addEventListener("pointerleave", hide);
        point.addEventListener("focus", () => show(point));
        point.addEventListener("blur", hide);
        point.addEventListener("keydown", (event) => {
          if (event.target !== point) return;
          const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
          const next = event.key === "Home" ? 0 : event.key === "End" ? points.length - 1 : i + step;
          if (event.key === "Escape") hide();
          if (!points[next]) return;
          event.preventDefault();
          point.setAttribute("tabindex", "-1");
          points[next].setAttribute("tabindex", "0");
          points[next].focus();
        });
      });
    });

    function show(point) {
      current = point;
      tooltip.textContent = tips.get(point);
      tooltip.hidden = false;
      place();
    }

    function place() {
      if (!current) return;
      // rows are as wide as the page: point at the mark
      const mark = current.querySelector('[class^="mark-estimate"], [class^="mark-"], .cell-condition, .baseline') || current;
      const box = mark.getBoundingClientRect();
      const size = tooltip.getBoundingClientRect();
      const left = Math.min(Math.max(box.left + box.width / 2 - size.width / 2, 8), innerWidth - size.width - 8);
      const above = box.top - size.height - 10;
      tooltip.style.transform = `translate(${left}px, ${above > 8 ? above : box.bottom + 10}px)`;
    }

    function hide() {
      current = null;
      tooltip.hidden = true;
    }
    addEventListener("scroll", place, { passive: true, capture: true });
  }

  function setUpSorting(root, table) {
    const body = table.tBodies[0];
    const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
    [...table.tHead.rows[0].cells].forEach((heading, i) => {
      const label = heading.querySelector(".heading");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sorter";
      button.textContent = label.textContent;
      if (label.title) button.title = label.title;
      label.replaceWith(button);
      const isNumber = heading.dataset.sort === "number";
      const key = (row) => {
        const cell = row.cells[i];
        if (!isNumber) return cell.textContent.trim();
        const value = cell.dataset.value;
        return value === "" || value === "nan" ? NaN : Number(value);
      };
      const isEmpty = (value) => value === "" || Number.isNaN(value);
      button.addEventListener("click", () => {
        const descending = heading.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [key(row), row]);
        rows.sort(([a], [b]) => {
          if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b); // what is missing comes last
          const compared = isNumber ? a - b : order.compare(a, b);
          return descending ? -compared : compared;
        });
        body.append(...rows.map(([, row]) => row));
        announce(root, `Sorted by ${button.textContent}, ${descending ? "descending" : "ascending"}`);
      });
    });
  }

  function setUpFilter(root, block) {
    const tools = block.querySelector(".tools");
    const [text, finding, count] = [".filter-text", ".filter-finding", ".filter-count"].map((s) => tools.querySelector(s));
    const rows = [...block.querySelectorAll("tbody tr")];
    const names = rows.map((row) => {
      const name = row.cells[0].querySelector(".name");
      return (name.title || name.textContent).toLowerCase();
    });
    const all = count.textContent;
    const filter = () => {
      const sought = text.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !names[i].includes(sought) || (finding.value !== "" && row.dataset.finding !== finding.value);
        shown += !row.hidden;
      });
      count.textContent = shown === rows.length ? all : `${shown.toLocaleString("en")} of ${all}`;
      block.querySelector(".nothing").hidden = shown > 0;
      announce(root, count.textContent);
    };
    tools.hidden = false;
    text.addEventListener("input", filter);
    finding.addEventListener("change", filter);
  }

  // What is wider than the page fades out where it goes on, and says so.
  function setUpScroll(box) {
    const cue = document.createElement("p");
    cue.className = "scroll-cue";
    cue.textContent = "scroll for more";
    box.after(cue);
    const show = () => {
      const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
      box.classList.toggle("is-cut", rest > 2);
      cue.hidden = box.scrollWidth - box.clientWidth <= 2;
    };
    box.addEventListener("scroll", show, { passive: true });
    new ResizeObserver(show).observe(box);
    show();
  }

  function setUpCopy(root, command) {
    const button = command.querySelector(".copy");
    const code = command.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      let copied = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        copied = document.execCommand("copy");
      }
      button.textContent = copied ? "Copied" : "Selected";
      announce(root, button.textContent);
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
