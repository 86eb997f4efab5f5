// Hides the rows of the table whose text has not every word of the search.
const box = document.getElementById("search");
const found = document.getElementById("found");
const rows = Array.from(document.querySelectorAll("table.comparison tbody tr"));
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  found.textContent = words.length ? `${shown} of ${rows.length}` : "";
});
box.closest(".search").hidden = false;
