// A click on the head of a column sorts by that column; another click reverses the order. Rows without a value stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows].at(-1).cells;
  for (const [column, head] of [...heads].entries()) {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, heads, column));
  }
}

function sortBy(table, heads, column) {
  const descends = heads[column].ariaSort === "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].ariaSort = descends ? "descending" : "ascending";
  const sign = descends ? -1 : 1;
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(valueOf(a, column), valueOf(b, column), sign)));
}

function valueOf(row, column) {
  const { dataset, textContent } = row.cells[column];
  const text = "sort" in dataset ? dataset.sort : textContent.trim();
  const number = Number(text.replaceAll(",", ""));
  return text === "" ? null : Number.isNaN(number) ? text : number;
}

function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}
