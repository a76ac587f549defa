// A picture with its words. The old one stays until the new one is loaded, so that nothing flickers or jumps.

function render({ model, el }) {
  const img = document.createElement("img");
  let shown = null, asked = null; // blob URLs: what is seen, what was asked for last
  img.hidden = true;
  el.classList.add("pipekit-picture");
  el.append(img);

  const take = (url) => {
    img.hidden = url === null;
    if (url === null) img.removeAttribute("src");
    else img.src = url;
    if (shown !== null) URL.revokeObjectURL(shown);
    shown = url;
    img.alt = model.get("alt");
  };

  const draw = () => {
    const bytes = model.get("value");
    asked = null;
    if (!bytes.byteLength) return take(null);
    const url = asked = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
    const next = new Image();
    next.onload = next.onerror = () => (asked === url ? take(url) : URL.revokeObjectURL(url)); // only the latest counts
    next.src = url;
  };

  const say = () => {
    if (asked === shown) img.alt = model.get("alt"); // else it comes with the picture
  };

  model.on("change:value", draw);
  model.on("change:alt", say);
  draw();
  const leaveMenus = keepMenus(el);
  return () => {
    leaveMenus();
    model.off("change:value", draw);
    model.off("change:alt", say);
    asked = null;
    if (shown !== null) URL.revokeObjectURL(shown);
  };
}

export default { render };
