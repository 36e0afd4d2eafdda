// SPDX-License-Identifier: Apache-2.0
// Marks the field of a picture whose row is open, and closes the row: by Escape, by its link, or by the field again.
// The rows open by their addresses (:target), also where no script runs. Knows only the page's marks.
"use strict";

(() => {
  const fields = [...document.querySelectorAll(".matrix tr.load a")];
  let pressed = null;

  function mark(field) {
    pressed = field;
    for (const one of fields) one.setAttribute("aria-expanded", String(one === pressed));
  }

  // An address names a row and not a field: where none of the row's fields was pressed, its name is marked.
  function follow() {
    const row = fields.filter((field) => field.hash === location.hash);
    mark(row.includes(pressed) ? pressed : row[0] ?? null);
  }

  function close() {
    const field = pressed;
    location.hash = field.closest(".matrix").id;
    mark(null);
    field.focus();
  }

  for (const field of fields) {
    field.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // opens the row in another window
      if (field !== pressed) return mark(field);
      event.preventDefault();
      close();
    });
  }
  for (const link of document.querySelectorAll(".matrix .close")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      close();
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pressed) close();
  });
  addEventListener("hashchange", follow);
  follow();
})();
