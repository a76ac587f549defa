// The board as a page sees it: it draws the scene that Python sends, and tells Python what a hand did with it.
// It knows no rule: whether an op may stand somewhere is Python's to say.

function element(tag, className, traits = {}, children = []) {
  const made = document.createElement(tag);
  made.className = className;
  for (const [name, value] of Object.entries(traits)) {
    if (name === "text") made.textContent = value;
    else if (name === "style") Object.assign(made.style, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function button(className, key, name, traits = {}) {
  return element("button", className, { type: "button", tabindex: "-1", "data-key": key, "aria-label": name, title: name, ...traits });
}

const keyOf = (device, tick) => `${device}:${tick}`; // of a row's cell; tick -1 is the row's head
const span = (start, length) => `${start + 2} / span ${length}`; // a row's head is its first column

class View {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.hand = null; // {chip: "F0"} or {op: "0F0"}
    this.tabStops = { tray: null, grid: keyOf(0, -1) }; // Tab comes to one thing in each; arrows go on from there
    this.drag = new Drag(root, this);
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("focusin", (event) => this.remember(event.target));
  }

  get scene() {
    return this.model.get("scene");
  }

  // -- drawing

  draw() {
    const scene = this.scene;
    if (!scene.rows) return;
    this.keepHand();
    const focused = this.root.contains(document.activeElement) ? document.activeElement : null;
    const had = focused && { area: this.areaOf(focused), key: focused.dataset.key };
    this.tray = this.drawTray(scene);
    this.grid = this.drawGrid(scene);
    this.caption = element("div", "pk-caption");
    this.ran = element("div", "pk-ran");
    this.root.replaceChildren(this.tray, this.grid, this.caption, this.ran);
    this.drawRan();
    this.mark();
    this.setTabStops();
    if (had && had.area) this.focus(had.area, this.tabStops[had.area] ?? had.key);
  }

  drawTray(scene) {
    const lines = scene.chips.map((groups) =>
      element("div", "pk-line", {}, groups.map((chips) =>
        element("span", "pk-group", {}, chips.map((chip) => this.drawChip(chip, scene)))))
    );
    const off = button("pk-off", "off", scene.words.take_off_why, { text: scene.words.take_off });
    off.tabIndex = 0;
    lines[lines.length - 1].append(off);
    return element("div", "pk-tray", { role: "group", "aria-label": scene.words.tray }, lines);
  }

  drawChip(chip, scene) {
    const dots = scene.rows.map((_, device) => element("i", chip.left.includes(device) ? "" : "pk-there"));
    const made = button("pk-chip", chip.key, chip.name, { "aria-pressed": "false", style: { background: chip.fill, color: chip.ink } });
    made.append(element("b", "", { text: chip.label }), element("span", "pk-dots", { "aria-hidden": "true" }, dots));
    made.classList.toggle("pk-used", chip.left.length === 0);
    made.disabled = scene.resting;
    return made;
  }

  drawGrid(scene) {
    const columns = { style: { gridTemplateColumns: `var(--pk-head) repeat(${scene.columns}, minmax(var(--pk-least), var(--pk-most)))` } };
    const grid = element("div", "pk-grid", { role: "group", "aria-label": scene.words.grid, ...columns });
    const every = scene.columns > 40 ? 5 : 1;
    for (let tick = 0; tick < scene.columns; tick += every) {
      grid.append(element("span", "pk-tick", { text: tick + scene.first, "aria-hidden": "true", style: { gridColumn: span(tick, 1), gridRow: "1" } }));
    }
    scene.rows.forEach((row, device) => this.drawRow(grid, scene, row, device));
    for (const mark of scene.marks) {
      grid.append(element("div", `pk-mark pk-${mark.kind}`, { style: { gridColumn: span(mark.start, mark.length), gridRow: `${mark.device + 2}` } }));
    }
    return grid;
  }

  drawRow(grid, scene, row, device) {
    const place = (start, length) => ({ gridColumn: span(start, length), gridRow: `${device + 2}` });
    const add = (made, tick, length) => {
      Object.assign(made.style, place(tick, length));
      Object.assign(made.dataset, { device, tick, length });
      made.disabled = scene.resting;
      grid.append(made);
    };
    const head = button("pk-head", keyOf(device, -1), row.name, { text: row.label });
    add(head, -1, 1);
    const ops = scene.ops.filter((op) => op.device === device);
    const taken = (tick) => ops.some((op) => op.start <= tick && tick < op.start + op.length);
    for (let tick = 0; tick < scene.columns; tick += 1) {
      if (taken(tick)) continue;
      const name = scene.words.free.replace("{device}", row.label).replace("{slot}", tick + scene.first);
      add(button("pk-cell", keyOf(device, tick), name), tick, 1);
    }
    for (const op of ops) {
      const look = { text: op.label, "data-op": op.key, "aria-pressed": "false", style: { background: op.fill, color: op.ink } };
      add(button("pk-op", keyOf(device, op.start), op.name, look), op.start, op.length);
    }
  }

  drawRan() {
    const ran = this.model.get("ran"), columns = this.scene.columns;
    if (!this.ran) return;
    this.ran.replaceChildren();
    this.caption.textContent = ran.caption ?? "";
    this.caption.classList.toggle("pk-warn", ran.tone === "warn");
    if (!ran.rows) return;
    ran.rows.forEach((name, device) => {
      const lane = element("div", "pk-lane");
      for (const op of ran.ops.filter((each) => each.device === device)) {
        const left = `${(100 * op.start) / columns}%`, width = `${(100 * op.length) / columns}%`;
        lane.append(element("span", "pk-box", { text: op.label, style: { left, width, background: op.fill, color: op.ink } }));
      }
      this.ran.append(element("div", "pk-lane-name", { text: name }), lane);
    });
    this.measure();
  }

  // The measured rows are as long as the grid's, also where its columns have reached their greatest width.
  measure() {
    const boxes = [...(this.grid?.querySelectorAll("[data-tick]:not(.pk-head)") ?? [])].map((each) => each.getBoundingClientRect());
    if (!boxes.length) return;
    const long = Math.max(...boxes.map((box) => box.right)) - Math.min(...boxes.map((box) => box.left));
    this.root.style.setProperty("--pk-long", `${long}px`);
  }

  // -- the hand

  keepHand() {
    const chips = this.scene.chips.flat(2);
    if (this.hand?.op) {
      if (!this.scene.ops.some((op) => op.key === this.hand.op)) this.hand = null;
    } else if (this.hand) {
      const chip = chips.find((each) => each.key === this.hand.chip);
      if (!chip) this.hand = null;
      else if (!chip.left.length) {
        const next = chips.filter((each) => each.key[0] === chip.key[0] && each.left.length);
        const after = next.find((each) => Number(each.key.slice(1)) > Number(chip.key.slice(1))) ?? next[0];
        this.hand = after ? { chip: after.key } : null;
      }
    }
  }

  take(hand) {
    const same = this.hand && this.hand.chip === hand.chip && this.hand.op === hand.op;
    this.hand = same ? null : hand;
    this.mark();
  }

  giveUp() {
    this.drag.letGo(); // what is being dragged stays where it was
    this.take(this.hand ?? {});
  }

  mark() {
    for (const chip of this.root.querySelectorAll(".pk-chip")) chip.setAttribute("aria-pressed", String(this.hand?.chip === chip.dataset.key));
    for (const op of this.root.querySelectorAll(".pk-op")) op.setAttribute("aria-pressed", String(this.hand?.op === op.dataset.op));
    const off = this.root.querySelector(".pk-off");
    if (off) off.disabled = this.scene.resting || !this.hand?.op;
  }

  send(what, place = {}) {
    this.model.send({ do: what, ...(this.hand ?? {}), ...place });
  }

  put(target) {
    const tick = Number(target.dataset.tick);
    this.send("put", { device: Number(target.dataset.device), tick: tick < 0 ? null : tick });
    if (this.hand?.op) this.hand = null;
    this.mark();
  }

  takeOff(op) {
    if (!op) return;
    this.hand = null;
    this.model.send({ do: "take_off", op });
  }

  click(event) {
    if (this.drag.endedIn()) return;
    const target = event.target.closest("[data-key]");
    if (!target || target.disabled) return;
    if (target.matches(".pk-chip")) this.take({ chip: target.dataset.key });
    else if (target.matches(".pk-op")) this.take({ op: target.dataset.op });
    else if (target.matches(".pk-off")) this.takeOff(this.hand?.op);
    else this.put(target);
  }

  // -- what the drag asks

  draggable(target) {
    const found = target.closest(".pk-chip, .pk-op");
    return found?.disabled ? null : found;
  }

  lift(target) {
    this.hand = target.dataset.op ? { op: target.dataset.op } : { chip: target.dataset.key };
    this.mark();
    return target.cloneNode(true);
  }

  under(elements) {
    return elements.map((each) => each.closest("[data-device], .pk-off")).find((each) => each && this.root.contains(each));
  }

  putDown(over) {
    if (over?.matches(".pk-off")) this.takeOff(this.hand?.op);
    else if (over) this.put(over);
    else if (this.hand?.op) this.hand = null;
    this.mark();
  }

  // -- the keyboard

  areaOf(target) {
    return target.closest(".pk-tray") ? "tray" : target.closest(".pk-grid") ? "grid" : null;
  }

  remember(target) {
    const area = this.areaOf(target);
    if (!area || !target.dataset.key || target.matches(".pk-off")) return;
    this.tabStops[area] = target.dataset.key;
    this.setTabStops();
  }

  setTabStops() {
    for (const [area, box] of [["tray", this.tray], ["grid", this.grid]]) {
      const all = [...box.querySelectorAll("[data-key]:not(.pk-off)")];
      const stop = this.find(area, this.tabStops[area]) ?? all[0];
      for (const each of all) each.tabIndex = each === stop ? 0 : -1;
      this.tabStops[area] = stop?.dataset.key;
    }
  }

  // The thing with a key; where an op lies over a cell, the op.
  find(area, key) {
    const box = area === "tray" ? this.tray : this.grid;
    if (!key) return null;
    const found = box.querySelector(`[data-key="${key}"]`);
    if (found || area === "tray") return found;
    const [device, tick] = key.split(":").map(Number);
    return this.at(device, tick);
  }

  at(device, tick) {
    return [...this.grid.querySelectorAll(`[data-device="${device}"]`)].find((each) => {
      const start = Number(each.dataset.tick);
      return start <= tick && tick < start + Number(each.dataset.length);
    });
  }

  focus(area, key) {
    this.find(area, key)?.focus();
  }

  key(event) {
    event.stopPropagation(); // a notebook may take letters for commands
    const target = event.target.closest("[data-key]");
    const ctrl = event.ctrlKey || event.metaKey;
    let done = true;
    if (ctrl && event.key.toLowerCase() === "z") this.model.send({ do: event.shiftKey ? "redo" : "undo" });
    else if (ctrl && event.key.toLowerCase() === "y") this.model.send({ do: "redo" });
    else if (event.key === "Escape") this.giveUp();
    else if ((event.key === "Delete" || event.key === "Backspace") && target?.dataset.op) this.takeOff(target.dataset.op);
    else if (event.key.startsWith("Arrow") && target) this.arrow(target, event.key.slice(5));
    else if (event.key === "Enter" && target) target.click();
    else done = false;
    if (done) event.preventDefault();
  }

  arrow(target, way) {
    if (this.areaOf(target) === "tray") {
      const chips = [...this.tray.querySelectorAll(".pk-chip")];
      const step = { Left: -1, Right: 1 }[way];
      if (step) chips[chips.indexOf(target) + step]?.focus();
      else if (way === "Down") this.focus("grid", this.tabStops.grid);
      return;
    }
    let device = Number(target.dataset.device), tick = Number(target.dataset.tick);
    if (way === "Up" && device === 0) return this.focus("tray", this.tabStops.tray);
    if (way === "Left") tick -= 1;
    else if (way === "Right") tick += Number(target.dataset.length);
    else device += way === "Up" ? -1 : 1;
    this.at(device, tick)?.focus();
  }
}

function render({ model, el }) {
  const root = element("div", "pk-board", { "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  const view = new View(model, root);
  const draw = () => view.draw();
  const drawRan = () => view.drawRan();
  const sized = new ResizeObserver(() => view.measure());
  sized.observe(root);
  model.on("change:scene", draw);
  model.on("change:ran", drawRan);
  draw();
  const leaveMenus = keepMenus(root);
  return () => {
    leaveMenus();
    sized.disconnect();
    model.off("change:scene", draw);
    model.off("change:ran", drawRan);
  };
}

export default { render };
