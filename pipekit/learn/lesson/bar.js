// The lesson's bar as a page sees it: five stops and a stopwatch. What the time is, Python says; between two scenes the
// page only counts on from there.

const FORWARD = ["PageDown"], BACK = ["PageUp"]; // what a presenter's clicker sends, too

function element(tag, className, traits = {}, children = []) {
  const made = document.createElement(tag);
  made.className = className;
  for (const [name, value] of Object.entries(traits)) {
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const inWords = (seconds) => {
  const tenths = Math.floor(10 * seconds + 1e-6);
  return [`${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}`, `.${tenths % 10}`];
};

class View {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.arrived = performance.now();
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => event.stopPropagation()); // a notebook may take letters for commands
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey, true);
    this.timer = setInterval(() => this.tick(), 100);
  }

  end() {
    document.removeEventListener("keydown", this.onKey, true);
    clearInterval(this.timer);
  }

  get scene() {
    return this.model.get("scene");
  }

  draw() {
    const scene = this.scene;
    if (!scene.stops) return;
    this.arrived = performance.now();
    const focused = this.root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const stops = scene.stops.map((stop, index) => this.drawStop(scene, stop, index));
    this.root.replaceChildren(element("nav", "pk-stops", { "aria-label": scene.name }, stops), this.drawWatch(scene));
    this.root.classList.toggle("pk-large", scene.large);
    this.tick();
    if (focused) (this.find(focused) ?? this.find({ start: "stop", stop: "start" }[focused]))?.focus();
  }

  drawStop(scene, stop, index) {
    const traits = { type: "button", "data-key": `go${index}`, "data-stop": index, title: stop.question };
    if (index === scene.current) traits["aria-current"] = "step";
    return element("button", "pk-stop", traits, [
      element("b", "", { text: stop.label }), element("span", "", { text: stop.minutes }),
    ]);
  }

  drawWatch(scene) {
    const press = (key, traits = {}) => element("button", "pk-press", {
      type: "button", "data-key": key, "data-do": key, text: scene.words[key], title: scene.words[`${key}_why`], ...traits,
    });
    this.minutes = element("span", "pk-minutes");
    this.tenths = element("span", "pk-tenths");
    const time = element("div", "pk-time", { role: "timer", "aria-label": scene.watch.name }, [this.minutes, this.tenths]);
    const laps = element("ol", "pk-laps", { "aria-live": "polite" }, scene.watch.laps.map((lap) => element("li", "", { text: lap })));
    const presses = [
      press(scene.watch.running ? "stop" : "start"), press("lap"), press("reset"),
      press("large", { "aria-pressed": scene.large }), press("wide", { "aria-pressed": scene.wide }),
    ];
    return element("div", "pk-watch", {}, [time, element("div", "pk-presses", {}, presses), laps]);
  }

  tick() {
    const { watch } = this.scene;
    if (!watch || !this.minutes) return;
    const since = watch.running ? (performance.now() - this.arrived) / 1000 : 0;
    const [minutes, tenths] = inWords(watch.elapsed + since);
    if (this.minutes.textContent !== minutes) this.minutes.textContent = minutes;
    this.tenths.textContent = tenths;
  }

  find(key) {
    return this.root.querySelector(`[data-key="${key}"]`);
  }

  click(event) {
    const target = event.target.closest("[data-key]");
    if (!target) return;
    if (target.dataset.stop !== undefined) this.go(Number(target.dataset.stop));
    else this.model.send({ do: target.dataset.do });
  }

  go(stop) {
    const last = this.scene.stops.length - 1;
    this.model.send({ do: "go", stop: Math.min(Math.max(stop, 0), last) });
  }

  // Page up and down go from stop to stop, where the lesson fills the window or has the focus.
  key(event) {
    const step = FORWARD.includes(event.key) ? 1 : BACK.includes(event.key) ? -1 : 0;
    const lesson = this.root.closest(".pipekit-lesson");
    if (!step || !lesson || !(this.scene.wide || lesson.contains(document.activeElement))) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.scene.current + step);
  }
}

function render({ model, el }) {
  const root = element("div", "pk-bar", { "data-lm-suppress-shortcuts": "true" });
  el.append(root);
  const view = new View(model, root);
  const draw = () => view.draw();
  model.on("change:scene", draw);
  draw();
  model.send({ do: "look" });
  return () => {
    view.end();
    model.off("change:scene", draw);
  };
}

export default { render };
