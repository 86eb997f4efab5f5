// A click on a frame of an icicle makes it as wide as the picture; a click on the first row shows all again.
for (const svg of document.querySelectorAll("svg.icicle")) {
  const whole = svg.viewBox.baseVal.width;
  const frames = [...svg.querySelectorAll("g")].map((group) => {
    const rect = group.querySelector("rect");
    const [x, y, width] = ["x", "y", "width"].map((name) => Number(rect.getAttribute(name)));
    return { group, rect, x, y, width };
  });
  for (const frame of frames) frame.group.addEventListener("click", () => zoom(frames, frame, whole));
}

function zoom(frames, chosen, whole) {
  const end = chosen.x + chosen.width;
  for (const { group, rect, x, y, width } of frames) {
    const left = Math.max(x, chosen.x), right = Math.min(x + width, end);
    const shown = right - left > 0.05;
    group.style.display = shown ? "" : "none";
    if (!shown) continue;
    const scale = whole / chosen.width;
    rect.setAttribute("x", (left - chosen.x) * scale);
    rect.setAttribute("width", (right - left) * scale);
    group.querySelector("text")?.remove();
    const room = Math.floor(((right - left) * scale - 4) / 6.2);
    if (room < 3) continue;
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    const { label } = group.dataset;
    text.textContent = label.length > room ? `${label.slice(0, room - 1)}…` : label;
    text.setAttribute("x", (left - chosen.x) * scale + 3);
    text.setAttribute("y", y + 12);
    group.append(text);
  }
}

// The field above icicles marks the frames whose names have a text in them.
for (const figure of document.querySelectorAll("figure:has(svg.icicle)")) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "search frames";
  field.setAttribute("aria-label", "search frames");
  figure.querySelector("figcaption").append(field);
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const group of figure.querySelectorAll("svg.icicle g")) {
      const name = group.querySelector("title").textContent.toLowerCase();
      group.classList.toggle("found", wanted !== "" && name.includes(wanted));
    }
  });
}
