# SPDX-License-Identifier: Apache-2.0
"""A report in a real browser, for tests: scripts that ask the page before and after its own, and what it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
)


WATCH = """<script>
window.troubles = [];
let isDrawn = false;
addEventListener("drawn", () => { isDrawn = true; });
const whenReady = (look) => addEventListener("load", () => {
  if (isDrawn || !document.getElementById("plotly")) look(); else addEventListener("drawn", look);
});
addEventListener("error", (event) => troubles.push(String(event.message)));
addEventListener("unhandledrejection", (event) => troubles.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => troubles.push("blocked: " + event.blockedURI));
</script>"""


MARKS = """
const visible = (path) => path.getBBox().width > 0 && path.getBBox().height > 0;  // a missing bar is an empty path
const marks = (plot) => [...plot.querySelectorAll(".points .point path, .points path.point")].filter(visible).length;
"""


VISIT = """<script>
whenReady(() => {
  const figures = [...document.querySelectorAll("figure.drawing")];
  const look = () => figures.map((figure) => ({
    title: figure.querySelector("h3").textContent,
    marks: [...figure.querySelectorAll(".plot")].map(marks),
    lines: figure.querySelectorAll(".lines path").length,
    whiskers: figure.querySelectorAll("path.yerror").length,
    colours: [...figure.querySelectorAll(".points path")].map((path) => getComputedStyle(path).fill),
    ticks: [...figure.querySelector(".plot").querySelectorAll(".xtick text")].map((text) => text.textContent),
    yTitle: figure.querySelector(".ytitle")?.textContent,
    tools: [...figure.querySelectorAll(".modebar-btn")].map((button) => button.dataset.title),
  }));
  const press = (selector) => figures.forEach((figure) => figure.querySelector(selector)?.click());
  const seen = { first: look() };
  press("[data-switch=log]");
  seen.log = look();
  press("[data-switch=log]");
  press("[data-series=ext2]");
  seen.hidden = look();
  press("[data-series=ext2]");
  seen.again = look();
  const first = () => document.querySelector("#repetitions tbody tr").cells[3].textContent;
  const head = document.querySelectorAll("#repetitions thead th button")[3];
  head.click();
  const rising = first();
  head.click();
  seen.sorted = [rising, first()];
  dispatchEvent(new Event("beforeprint"));
  seen.paper = look();
  dispatchEvent(new Event("afterprint"));
  seen.claims = [...document.querySelectorAll(".claim")].map((claim) => ({
    verdict: claim.querySelector(".claim-head .outcome").textContent,
    rows: claim.querySelectorAll("tbody tr").length,
    ground: getComputedStyle(claim.querySelector(".claim-head .outcome")).backgroundColor,
    height: claim.getBoundingClientRect().height,
  }));
  seen.elsewhere = [...document.querySelectorAll("#elsewhere tbody tr")].map((row) => row.cells[0].textContent);
  seen.width = [document.documentElement.scrollWidth, innerWidth];
  seen.troubles = troubles;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""


LOOK = """<script>
whenReady(() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  const seen = {
    marks: [...document.querySelectorAll("figure.drawing")].map((figure) =>
      [...figure.querySelectorAll(".plot")].map(marks)),
    empty: count("figure .empty"),
    titles: [...document.querySelectorAll("figure.drawing h3")].map((head) => head.textContent),
    verdicts: [...document.querySelectorAll("table.overview td:nth-child(2) .value")].map((cell) => cell.textContent),
    claims: count(".claim"),
    unfolded: count(".gap details[open]"),
    matrices: count("table.matrix"),
    fields: [...document.querySelectorAll(".matrix tr.load td a")].map((field) => field.textContent.trim()),
    lines: count(".lines li"),
    sideways: (document.querySelectorAll("details").forEach((part) => { part.open = true; }),
      [...document.querySelectorAll(".scroll")].filter((part) => part.scrollWidth > part.clientWidth + 1)
        .map((part) => part.getAttribute("aria-label"))),
    captions: [...document.querySelectorAll("figcaption, .gap > p")].map((text) => text.textContent.length),
    width: [document.documentElement.scrollWidth, innerWidth],
    troubles,
  };
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""


OPEN = """<script>
addEventListener("load", () => {
  const high = (row) => row.getBoundingClientRect().height > 0;
  const shown = () => [...document.querySelectorAll("tr.opened")].filter(high);
  const seen = { before: shown().length };
  const field = document.querySelectorAll(".matrix tr.load")[3].querySelector("td.is-best a");
  location.hash = field.getAttribute("href");
  requestAnimationFrame(() => {
    const [row] = shown();
    seen.opened = shown().map((one) => one.id);
    seen.sentence = row.querySelector(".sentence").textContent;
    seen.cells = row.querySelectorAll(".inside tbody tr").length;
    seen.figures = [...row.querySelectorAll(".shown a")].map((link) => link.textContent);
    seen.inside = row.getBoundingClientRect().right <= innerWidth;
    const ground = (tone) => getComputedStyle(document.querySelector(`td.is-${tone}`)).background;
    seen.grounds = ["best", "behind", "even"].map(ground);
    seen.top = document.querySelector(".matrix").getBoundingClientRect().top + scrollY;
    seen.width = [document.documentElement.scrollWidth, innerWidth];
    seen.numbers = document.querySelectorAll("figure details table").length;
    const out = document.createElement("pre");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  });
});
</script>"""
"""What a field opens, looked at in a page whose own scripts are gone."""


CLOSED = """<script>
addEventListener("load", async () => {
  const turn = () => new Promise((done) => setTimeout(done, 50));  // the address changes later
  const fields = [...document.querySelectorAll(".matrix tr.load td a")];
  const outlined = (field) => getComputedStyle(field.parentElement).outlineStyle === "solid";
  const look = () => ({
    open: [...document.querySelectorAll("tr.opened")].filter((row) => row.getBoundingClientRect().height > 0).length,
    expanded: fields.flatMap((field, place) => field.getAttribute("aria-expanded") === "true" ? [place] : []),
    outlined: fields.flatMap((field, place) => outlined(field) ? [place] : []),
    focused: fields.indexOf(document.activeElement),
  });
  const after = async (press) => { press(); await turn(); return look(); };
  const escape = () => dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  const seen = {
    first: look(),
    pressed: await after(() => fields[1].click()),
    beside: await after(() => fields[2].click()),
    escaped: await after(escape),
    twice: await after(() => { fields[1].click(); fields[1].click(); }),
    link: await after(() => { fields[4].click(); document.querySelectorAll(".matrix .close")[1].click(); }),
    troubles,
  };
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""
"""Which field is marked as a row opens and closes."""


EDGES = """<script>
addEventListener("load", () => {
  const blocks = ".question, #answer > p, #answer > ul:not(.key), #answer > .cautions, .claim ~ p, #evidence .part > p";
  const seen = { edges: [...document.querySelectorAll(blocks)].map((one) => one.getBoundingClientRect().right) };
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""
"""Where blocks of text end at the right."""


def without_scripts(report: Path, folder: Path) -> Path:
    """Write the page without its scripts, as a browser without JavaScript shows it. Return its path."""
    bare = folder / "bare.html"
    bare.write_text(re.sub(r"<script.*?</script>", "", report.read_text(encoding="utf-8"), flags=re.DOTALL))
    return bare


def visit(
    report: Path, folder: Path, width: int = 1280, *more: str, script: str = VISIT
) -> tuple[dict[str, Any], list[str]]:
    """Return what the page shows while its buttons are pressed, and the messages of the browser's console."""
    page = report.read_text(encoding="utf-8")
    watched = page.replace("<title>", f"{WATCH}<script>{MARKS}</script><title>", 1).replace(
        "</body>", script + "</body>", 1
    )
    copy = folder / "watched.html"
    copy.write_text(watched, encoding="utf-8")
    profile = folder / f"profile-{width}-{len(more)}"
    command = [str(CHROMIUM), *FLAGS, *more, f"--window-size={width},1000", f"--user-data-dir={profile}", "--dump-dom"]
    done = subprocess.run([*command, copy.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    match = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, f"the page never finished: {done.stderr[-2000:]}"
    return json.loads(unescape(match[1])), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def printed(report: Path, folder: Path) -> set[tuple[float, float]]:
    """Return the sizes of the pages that a report has as PDF, width and height in points."""
    paper = folder / "paper.pdf"
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'printer'}", f"--print-to-pdf={paper}"]
    subprocess.run([*command, report.as_uri()], capture_output=True, timeout=120, check=True)
    boxes = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", paper.read_bytes())
    return {(float(width), float(height)) for width, height in boxes}


_BROKEN = """<script>
addEventListener("load", () => {
  const broken = [];
  for (const cell of document.querySelectorAll(CELLS)) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[^ ]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      const parts = [...range.getClientRects()];
      if (new Set(parts.map((part) => part.top)).size > 1) broken.push(word[0]);
      else if (parts.some((part) => part.right > cell.getBoundingClientRect().right)) broken.push("out: " + word[0]);
    }
  }
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify({ broken, columns: document.querySelectorAll(".matrix > thead th").length });
  document.body.append(out);
});
</script>"""


def broken(cells: str) -> str:
    """Return a script that tells which words of `cells`, a selector, two lines share or stick out of their cell."""
    return _BROKEN.replace("CELLS", json.dumps(cells))


PICTURE = ".matrix > thead th, .matrix tr.load > *"


PRINTED = """<script>
addEventListener("load", () => {
  const high = (one) => one.getBoundingClientRect().height > 0;
  const visible = (selector) => [...document.querySelectorAll(selector)].filter(high);
  const seen = {
    sentences: visible(".opened .sentence").map((one) => one.firstChild.textContent),
    tables: visible(".opened table").length,
    close: visible(".close").length,
    fields: visible(".matrix tr.load td").length,
    type: Math.min(...visible("td, th, p, li, dd, .note").map((one) => parseFloat(getComputedStyle(one).fontSize))),
  };
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""
