// The page works without this. It adds a search over the rows, opens the lists
// when a filter asks for one, and everything when the page is printed.
(() => {
  const rows = [...document.querySelectorAll(".row")].map((row) => [row, row.textContent.toLowerCase()]);
  const lists = [...document.querySelectorAll("details.list")];
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "Search rows";
  box.setAttribute("aria-label", "Search rows");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
    if (words.length) for (const list of lists) list.open = true;
  });
  document.getElementById("search").append(box);
  for (const radio of document.querySelectorAll("input[name=show]"))
    radio.addEventListener("change", () => {
      for (const list of lists) list.open = list.closest("." + radio.id.slice("show-".length)) !== null;
    });
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details.row")) d.open = true; });
})();
