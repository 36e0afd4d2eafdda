// SPDX-License-Identifier: Apache-2.0
// Draws the figures from the data in the page, follows the reader's theme and the printer, and sorts tables.
// Knows plotly and the page's marks; no number is computed here but the ends of an axis.
"use strict";

(() => {
  const MARKERS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"];
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const SLOTS = MARKERS.length;
  const COLUMN_PX = 320; // half of a printed page between the panels
  const PAGE_PX = 660;

  const drawings = JSON.parse(document.getElementById("drawings")?.textContent ?? "[]").map((data) => {
    const element = document.getElementById(data.id);
    return { data, element, plots: [...element.querySelectorAll(".plot")], log: false, same: data.sameScale, hidden: new Set() };
  });

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function slotColour(slot) {
    return colour(`slot-${slot % SLOTS}`);
  }

  function trace(drawing, series) {
    const { data } = drawing;
    const bars = data.kind === "bar" && !drawing.log; // on a log axis a bar's length means nothing: dots instead
    const single = slotColour(series.slot);
    const colours = data.colourByX.length && data.panels.every((panel) => panel.series.length === 1)
      ? data.colourByX.map(slotColour) : single;
    const common = {
      x: data.x.values,
      y: series.y,
      name: series.label,
      hovertext: series.text,
      hovertemplate: "%{hovertext}<extra></extra>",
      showlegend: false,
      visible: !drawing.hidden.has(series.label),
      error_y: {
        type: "data", symmetric: false, array: series.above, arrayminus: series.below,
        visible: [...series.above, ...series.below].some((value) => value > 0),
        color: bars ? colour("text") : single, thickness: 1.3, width: 4,
      },
    };
    if (bars) {
      return { ...common, type: "bar", marker: { color: colours, line: { width: 0 } } };
    }
    return {
      ...common,
      type: "scatter",
      mode: data.kind === "bar" ? "markers" : "lines+markers",
      offsetgroup: series.label,
      connectgaps: false,
      line: { color: single, width: 2.2, dash: DASHES[Math.floor(series.slot / SLOTS) % DASHES.length] },
      marker: { color: colours, size: 8, symbol: MARKERS[series.slot % SLOTS], line: { width: 1, color: colour("surface") } },
    };
  }

  function requests(drawing, series) {
    return {
      type: "scatter",
      mode: "markers",
      x: series.x,
      y: series.y,
      name: series.label,
      hovertemplate: `${series.label} at %{y} MiB, %{x} ms<extra></extra>`,
      showlegend: false,
      visible: !drawing.hidden.has(series.label),
      marker: { color: slotColour(series.slot), size: 4, symbol: MARKERS[series.slot % SLOTS] },
    };
  }

  // Where the measurement ends, if anything came after it.
  function endOfMeasurement(panel) {
    const last = Math.max(...panel.series.flatMap((series) => series.x.slice(-1)));
    const line = { color: colour("quiet"), width: 1, dash: "dot" };
    return last > panel.measured
      ? [{ type: "line", yref: "paper", x0: panel.measured, x1: panel.measured, y0: 0, y1: 1, line }] : [];
  }

  // The addresses used while the workload was measured: what an unmount writes far away must not press them together.
  function addresses(panel) {
    const all = panel.series.flatMap((series) => series.y.map((y, i) => [series.x[i], y]));
    const during = all.filter(([x]) => x <= panel.measured);
    const used = (during.length ? during : all).map(([, y]) => y);
    const [low, high] = used.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
    const room = Math.max(0.04 * (high - low), 0.5);
    return [Math.max(0, low - room), high + room];
  }

  function requestAxes(panel) {
    return {
      more: { hovermode: "closest", shapes: endOfMeasurement(panel) },
      x: { type: "linear", rangemode: "tozero", showgrid: true },
      y: { type: "linear", range: addresses(panel) },
    };
  }

  function ends(drawing, panels) {
    const shown = panels.flatMap((panel) => panel.series).filter((series) => !drawing.hidden.has(series.label));
    const highs = shown.flatMap((series) => series.y.map((y, i) => (y === null ? NaN : y + series.above[i])));
    const lows = shown.flatMap((series) => series.y.map((y, i) => (y === null ? NaN : y - series.below[i])));
    const top = Math.max(...highs.filter((value) => value > 0), 0) || 1;
    if (!drawing.log) return [0, top * 1.07];
    const bottom = Math.min(...lows.filter((value) => value > 0), top);
    const room = Math.max(0.05, 0.06 * Math.log10(top / bottom));
    return [Math.log10(bottom) - room, Math.log10(top) + room];
  }

  function xAxis(data) {
    if (data.x.type === "category") {
      return { type: "category", categoryorder: "array", categoryarray: data.x.values };
    }
    const logs = data.x.values.map(Math.log10);
    const room = 0.06 * (Math.max(...logs) - Math.min(...logs));
    return {
      type: "log", tickmode: "array", tickvals: data.x.values, ticktext: data.x.labels,
      range: [Math.min(...logs) - room, Math.max(...logs) + room],
    };
  }

  function logTicks([from, to]) {
    const ticks = [];
    const digits = to - from > 4 ? [1] : to - from > 1.3 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    for (let power = Math.floor(from); power <= to; power += 1) {
      for (const digit of digits) {
        const value = Number(`${digit}e${power}`);
        if (Math.log10(value) >= from && Math.log10(value) <= to) ticks.push(value);
      }
    }
    return ticks;
  }

  function yAxis(drawing, panel) {
    const range = ends(drawing, drawing.same ? drawing.data.panels : [panel]);
    if (!drawing.log) return { type: "linear", tickmode: "auto", nticks: 7, range };
    const tickvals = logTicks(range);
    return { type: "log", tickmode: "array", tickvals, ticktext: tickvals.map((value) => value.toLocaleString("en")), range };
  }

  function resultAxes(drawing, panel) {
    const { data } = drawing;
    return {
      more: {
        barmode: "group", bargap: data.x.values.length * panel.series.length < 6 ? 0.6 : 0.28, bargroupgap: 0.06,
        scattermode: data.kind === "bar" ? "group" : "overlay", scattergap: 0.5,
        hovermode: "x unified", hoverdistance: 80,
      },
      x: { ...xAxis(data), showgrid: data.kind === "line", showspikes: false },
      y: yAxis(drawing, panel),
    };
  }

  function layout(drawing, panel, size) {
    const { data } = drawing;
    const axes = data.kind === "requests" ? requestAxes(panel) : resultAxes(drawing, panel);
    const title = (text) => ({ text, standoff: 8, font: { size: 12, color: colour("quiet") } });
    const axis = {
      gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("line"),
      tickfont: { size: 12 }, automargin: true, fixedrange: false,
    };
    return {
      ...size,
      autosize: !size,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("text") },
      margin: { l: 12, r: 12, t: 30, b: 8 }, // the buttons stand in the upper margin
      ...axes.more,
      hoverlabel: { bgcolor: colour("surface"), bordercolor: colour("line"), font: { color: colour("text"), size: 13 } },
      dragmode: "zoom",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("quiet"), activecolor: colour("accent"), orientation: "h" },
      xaxis: { ...axis, ...axes.x, title: title(data.x.title) },
      yaxis: { ...axis, ...axes.y, title: title(data.y.title) },
    };
  }

  function draw(drawing, paper = false) {
    drawing.data.panels.forEach((panel, place) => {
      const plot = drawing.plots[place];
      const width = drawing.plots.length > 1 ? COLUMN_PX : PAGE_PX;
      const size = paper ? { width, height: plot.clientHeight } : null;
      const marks = drawing.data.kind === "requests" ? requests : trace;
      const traces = panel.series.map((series) => marks(drawing, series));
      Plotly.react(plot, traces, layout(drawing, panel, size), {
        responsive: true,
        displaylogo: false,
        displayModeBar: "hover",
        // Named one by one: plotly's own set has a button that sends the data to a server.
        modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
        toImageButtonOptions: { filename: `${drawing.data.id}-${place + 1}`, scale: 2 },
      });
    });
  }

  function press(button, pressed) {
    button.setAttribute("aria-pressed", String(pressed));
  }

  function connect(drawing) {
    for (const button of drawing.element.querySelectorAll("[data-switch]")) {
      const name = button.dataset.switch;
      press(button, drawing[name]);
      button.addEventListener("click", () => {
        drawing[name] = !drawing[name];
        press(button, drawing[name]);
        draw(drawing);
      });
    }
    for (const button of drawing.element.querySelectorAll("[data-series]")) {
      button.addEventListener("click", () => {
        const label = button.dataset.series;
        const hide = !drawing.hidden.delete(label);
        if (hide) drawing.hidden.add(label);
        press(button, !hide);
        draw(drawing);
      });
    }
  }

  // A rounded number has its exact one in the title or, where that says something else, in data-sort.
  function sortValue(cell) {
    const exact = Number(cell.dataset.sort ?? (cell.title || NaN));
    return Number.isNaN(exact) ? cell.textContent.trim() : exact;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function makeSortable(table) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        const order = down ? -1 : 1;
        rows.sort((a, b) => order * compare(sortValue(a.cells[column]), sortValue(b.cells[column])));
        table.tBodies[0].append(...rows);
      });
    });
  }

  const opened = [];

  function beforePrint() {
    for (const details of document.querySelectorAll("details.printed:not([open])")) {
      details.open = true;
      opened.push(details);
    }
    document.documentElement.classList.add("paper"); // light colours, also for a reader who prefers dark ones
    for (const drawing of drawings) draw(drawing, true);
  }

  function afterPrint() {
    for (const details of opened.splice(0)) details.open = false;
    document.documentElement.classList.remove("paper");
    for (const drawing of drawings) draw(drawing);
  }

  // The library lies packed in the page. A script element with text runs as soon as it is in the page.
  async function loadLibrary() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
  }

  async function drawAll() {
    if (drawings.length === 0) return;
    if (!("DecompressionStream" in window)) { // browsers of before 2023
      for (const { plots } of drawings) plots[0].textContent = "This browser is too old to draw figures. The tables have their numbers.";
      return;
    }
    await loadLibrary();
    for (const drawing of drawings) {
      connect(drawing);
      draw(drawing);
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawings.forEach((drawing) => draw(drawing)));
    addEventListener("beforeprint", beforePrint);
    addEventListener("afterprint", afterPrint);
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  drawAll().then(() => dispatchEvent(new Event("drawn")));
})();
