// The games' table as a page sees it: it draws the scene that Python sends, and tells Python what a hand did with it.
// It knows no rule of any game: what a press or a drop comes to is Python's to say.

const ASIDE = 3, ASTRAY = 1e6; // pixels aside count so many times; what is not straight ahead comes after all that is
const GAP = 2, LEAST = 0.9; // pixels between columns, as in table.css; of its width a column keeps so much
const PRESSABLE = "[data-key][tabindex]:not([aria-disabled=true])";

function made(tag, className, traits = {}) {
  const element = document.createElement(tag);
  element.className = className;
  for (const [name, value] of Object.entries(traits)) element.setAttribute(name, value);
  return element;
}

function put(element, name, value) {
  if (value === null || value === undefined || value === "") element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

// Columns as CSS: where the page is a little too narrow for them, as JupyterLab's is on a projector, all of them shrink.
function tracks(columns) {
  const whole = columns.reduce((sum, width) => sum + width, 0), gaps = GAP * (columns.length - 1);
  const track = (width) => `max(${LEAST * width}px, min(${width}px, calc((100% - ${gaps}px) * ${width / whole})))`;
  return columns.every((width) => typeof width === "number")
    ? columns.map(track)
    : columns.map((width) => (typeof width === "number" ? `${width}px` : width));
}

const canBeHit = (item) => item.kind === "button" || item.kind === "input" || Boolean(item.press || item.drag || item.drop);
const tagOf = (item) => (item.kind === "input" ? "INPUT" : canBeHit(item) ? "BUTTON" : "DIV");

class View {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.grid = made("div", "pk-table", { role: "group" });
    this.line = made("div", "pk-said", { role: "status", "aria-live": "polite" });
    root.append(this.grid, this.line);
    this.hand = null; // the key of what is held
    this.tabStop = null; // Tab comes to one thing; arrows go on from there
    this.drag = new Drag(root, this);
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("focusin", (event) => this.remember(event.target));
    root.addEventListener("focusout", (event) => this.typed(event.target));
  }

  get scene() {
    return this.model.get("scene");
  }

  find(key) {
    return key === null || key === undefined ? null : this.grid.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  item(key) {
    return this.scene.items.find((each) => each.key === key);
  }

  // -- drawing

  draw() {
    const scene = this.scene;
    if (!scene.items) return;
    const focused = this.grid.contains(document.activeElement) ? document.activeElement : null;
    const was = focused && { key: focused.dataset.key, box: focused.getBoundingClientRect() };
    this.grid.style.gridTemplateColumns = tracks(scene.columns).join(" ");
    this.grid.style.gridTemplateRows = `repeat(${scene.rows}, ${scene.row_height}px)`;
    put(this.grid, "aria-label", scene.name);
    this.drawItems(scene.items);
    const held = this.item(this.hand);
    if (!held || !held.drag || held.disabled) this.hand = null;
    this.mark();
    this.setTabStop(was?.box);
    if (was) (this.find(was.key)?.matches("[tabindex]") ? this.find(was.key) : this.find(this.tabStop))?.focus();
    if (this.line.textContent !== scene.said.text) this.line.textContent = scene.said.text;
    this.line.className = `pk-said pk-${scene.said.tone}`;
  }

  drawItems(items) {
    const old = new Map([...this.grid.children].map((each) => [each.dataset.key, each]));
    let next = this.grid.firstElementChild;
    for (const item of items) {
      let element = old.get(item.key);
      if (element?.tagName !== tagOf(item)) {
        element = made(tagOf(item).toLowerCase(), "", { "data-key": item.key });
        if (element.tagName === "BUTTON") element.type = "button";
      } else old.delete(item.key);
      this.dress(element, item);
      if (element === next) next = next.nextElementSibling;
      else this.grid.insertBefore(element, next);
    }
    for (const gone of old.values()) gone.remove();
  }

  dress(element, item) {
    const marked = item.mark ? ` pk-${item.mark}` : "";
    element.className = `pk-item pk-${item.kind}${marked}${item.drag ? " pk-drag" : ""}`;
    Object.assign(element.style, {
      gridColumn: `${item.column + 1} / span ${item.colspan ?? 1}`,
      gridRow: `${item.row + 1} / span ${item.rowspan ?? 1}`,
      background: item.fill ?? "",
      color: item.ink ?? "",
      textAlign: item.align ?? "",
    });
    const text = item.text ?? "", name = item.name ?? "";
    if (element.tagName === "INPUT") {
      put(element, "inputmode", "decimal");
      put(element, "autocomplete", "off");
      element.readOnly = Boolean(item.disabled);
      // what somebody is typing stays, unless Python says otherwise
      if (element.dataset.text !== text) element.value = element.dataset.text = text;
    } else if (element.textContent !== text) element.textContent = text;
    const speaks = name && name !== text ? name : null;
    put(element, "aria-label", element.tagName === "INPUT" ? name : speaks);
    put(element, "title", element.tagName === "BUTTON" ? speaks : null);
    put(element, "role", element.tagName === "DIV" && speaks ? "img" : null);
    if (element.tagName !== "DIV" && !element.hasAttribute("tabindex")) element.tabIndex = -1;
    put(element, "aria-disabled", element.tagName !== "DIV" && item.disabled ? "true" : null);
  }

  mark() {
    for (const each of this.grid.querySelectorAll("button")) {
      const item = this.item(each.dataset.key);
      const held = this.hand !== null && each.dataset.key === this.hand;
      put(each, "aria-pressed", held || item?.pressed ? "true" : item?.drag || item?.pressed === false ? "false" : null);
    }
  }

  // -- the hand

  take(key) {
    this.hand = this.hand === key ? null : key;
    this.mark();
  }

  giveUp() {
    this.drag.letGo(); // what is being dragged stays where it was
    this.take(this.hand);
  }

  putOn(key) {
    const held = this.item(this.hand);
    this.model.send({ do: "drop", key: this.hand, on: key });
    if (held?.kind !== "button") this.hand = null;
    this.mark();
  }

  click(event) {
    if (this.drag.endedIn()) return;
    const key = event.target.closest(`button${PRESSABLE}`)?.dataset.key;
    const item = this.item(key);
    if (!item) return;
    if (this.hand !== null && this.hand !== key && item.drop) this.putOn(key);
    else if (item.drag) this.take(key);
    else this.model.send({ do: "press", key });
  }

  typed(target) {
    if (target.tagName !== "INPUT" || target.value === target.dataset.text) return;
    target.dataset.text = target.value;
    this.model.send({ do: "type", key: target.dataset.key, text: target.value });
  }

  // -- what the drag asks

  draggable(target) {
    return target.closest(`.pk-drag${PRESSABLE}`);
  }

  lift(target) {
    this.hand = target.dataset.key;
    this.mark();
    const { width, height } = target.getBoundingClientRect();
    const ghost = target.cloneNode(true);
    Object.assign(ghost.style, { width: `${width}px`, height: `${height}px` });
    return ghost;
  }

  under(elements) {
    const found = elements.map((each) => each.closest(PRESSABLE));
    return found.find((each) => each && this.grid.contains(each) && this.item(each.dataset.key)?.drop);
  }

  putDown(over) {
    if (over && over.dataset.key !== this.hand) this.putOn(over.dataset.key);
    else this.take(this.hand);
  }

  // -- the keyboard

  remember(target) {
    if (!target.dataset.key || !this.grid.contains(target)) return;
    this.tabStop = target.dataset.key;
    this.setTabStop();
  }

  // Tab comes to what had the focus last; where that has gone, to what is nearest to its box.
  setTabStop(box) {
    const all = [...this.grid.querySelectorAll("[data-key][tabindex]")];
    let stop = all.find((each) => each.dataset.key === this.tabStop);
    if (!stop) {
      const able = all.filter((each) => each.matches(PRESSABLE));
      const far = (each) => Math.hypot(...apart(box, each.getBoundingClientRect()));
      stop = box ? able.reduce((best, each) => (!best || far(each) < far(best) ? each : best), null) : (able[0] ?? all[0]);
    }
    for (const each of all) each.tabIndex = each === stop ? 0 : -1;
    this.tabStop = stop?.dataset.key ?? null;
  }

  key(event) {
    event.stopPropagation(); // a notebook may take letters for commands
    if (event.isComposing || event.keyCode === 229) return; // the key is an input method's: the number isn't whole yet
    const target = event.target.closest("[data-key]"), field = target?.tagName === "INPUT";
    const ctrl = event.ctrlKey || event.metaKey, letter = event.key.toLowerCase();
    let done = true;
    if (ctrl && !field && letter === "z") this.model.send({ do: event.shiftKey ? "redo" : "undo" });
    else if (ctrl && !field && letter === "y") this.model.send({ do: "redo" });
    else if (event.key === "Escape") this.giveUp();
    else if (event.key.startsWith("Arrow") && target && !inside(event.target, event.key)) this.arrow(target, event.key.slice(5));
    else if (event.key === "Enter" && field) this.typed(target);
    else if ((event.key === "Enter" || event.key === " ") && target && !field) target.click();
    else done = false;
    if (done) event.preventDefault();
  }

  arrow(target, way) {
    const from = target.getBoundingClientRect();
    let best = null, least = Infinity;
    for (const each of this.grid.querySelectorAll(PRESSABLE)) {
      const [right, down] = apart(from, each.getBoundingClientRect());
      const [ahead, aside] = { Left: [-right, down], Right: [right, down], Up: [-down, right], Down: [down, right] }[way];
      const far = ahead + ASIDE * Math.abs(aside) + (aside ? ASTRAY : 0);
      if (each !== target && ahead > 1 && far < least) [best, least] = [each, far];
    }
    best?.focus();
  }
}

// How far one box lies to the right of another, and how far below it; 0 where they lie side by side or below each other.
function apart(from, to) {
  const gap = (start, end, otherStart, otherEnd) => (otherStart >= end - 1 ? otherStart - end + 2 : otherEnd <= start + 1 ? otherEnd - start - 2 : 0);
  return [gap(from.left, from.right, to.left, to.right), gap(from.top, from.bottom, to.top, to.bottom)];
}

// Whether an arrow moves within what is typed in a field.
function inside(field, key) {
  if (field.tagName !== "INPUT" || key === "ArrowUp" || key === "ArrowDown") return false;
  const { selectionStart: start, selectionEnd: end, value } = field;
  return start !== end || (key === "ArrowLeft" ? start > 0 : end < value.length);
}

function render({ model, el }) {
  const root = made("div", "pk-games", { "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  const view = new View(model, root);
  const draw = () => view.draw();
  model.on("change:scene", draw);
  draw();
  const leaveMenus = keepMenus(root);
  return () => {
    leaveMenus();
    model.off("change:scene", draw);
  };
}

export default { render };
