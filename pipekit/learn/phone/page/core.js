"use strict";
// What every part of the page uses: words, the state in the address, and a view drawn from it.
// No part computes what a pipeline does: it looks that up in the tables that Python wrote.

const DATA = JSON.parse(document.getElementById("data").textContent);
const say = (key, numbers = {}) => DATA.words[key].replace(/\{(\w+)\}/g, (_, name) => numbers[name]);

// The state: its first values, and what each may be; an address that says anything else is not believed.
const NUMBER = /^\d{0,4}$/;
const FIRST = {
  tab: ["grid", /^(grid|cards|fill|scratch|exit)$/],
  k: ["4", NUMBER], m: ["1", NUMBER], v: ["forward", /^(forward|both)$/], g: ["", /^(n|\d{1,3}(\.\d+)?)?$/], x: ["", NUMBER],
  cg: ["", /^(n|1|3|12)?$/], cm: ["3", NUMBER], cs: ["111", /^\d{3}$/], ch: ["0", NUMBER], ct: ["", NUMBER],
  f: ["cards", /^(cards|gpus)$/], fcards: ["", /^[-.1-9]{0,99}$/], fgpus: ["", /^[-.1-9]{0,99}$/],
  scards: ["0", NUMBER], sgpus: ["0", NUMBER], fx: ["", /^(\d,\d)?$/],
  sc: ["3", NUMBER], sl: ["", /^(A-|[wj]\d){0,999}$/],
  q: ["---", /^[-A-D]{3}$/], qd: ["", /^1?$/],
};
const state = { ...fresh(), ...fromAddress() };

function fresh() {
  return Object.fromEntries(Object.entries(FIRST).map(([name, [value]]) => [name, value]));
}

function fromAddress() {
  const found = {};
  for (const pair of location.hash.slice(1).split("&")) {
    const [name, value = ""] = pair.split("=");
    if (Object.keys(FIRST).includes(name) && FIRST[name][1].test(value)) found[name] = value;
  }
  const known = { ...fresh(), ...found };
  if (!(`${known.k},${known.m}` in DATA.predicted)) delete found.k, delete found.m;
  const speeds = DATA.cards[`${known.cs}+${known.ch}`];
  if (!speeds || !(known.cm in speeds.ways)) delete found.cs, delete found.ch, delete found.cm;
  if (!(known.sc in DATA.scratch.cells)) delete found.sc;
  return found;
}

let remembering = 0;
function remember() {
  clearTimeout(remembering); // a phone allows an address to change only so often
  remembering = setTimeout(() => {
    const changed = Object.keys(FIRST).filter(name => state[name] !== FIRST[name][0]);
    const address = changed.map(name => `${name}=${state[name]}`).join("&");
    history.replaceState(null, "", "#" + address);
  }, 250);
}

function change(part) {
  Object.assign(state, part);
  remember();
  draw();
}

// A view is a tree of h(...); patch makes the page look like it, and keeps elements that stay, and so the focus.

function h(tag, attributes = {}, ...children) {
  return { tag, attributes, children: children.flat(3).filter(each => each !== null && each !== false).map(each => each.tag ? each : String(each)) };
}

function patch(parent, wanted) {
  wanted.forEach((each, index) => {
    let node = parent.childNodes[index];
    if (!matches(node, each)) {
      const made = each.tag ? document.createElement(each.tag) : document.createTextNode(each);
      if (node) parent.replaceChild(made, node);
      else parent.appendChild(made);
      node = made;
    }
    if (each.tag) fill(node, each);
    else if (node.data !== each) node.data = each;
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function matches(node, wanted) {
  if (!node) return false;
  if (!wanted.tag) return node.nodeType === Node.TEXT_NODE;
  return node.localName === wanted.tag && (node.dataset.key || "") === (wanted.attributes["data-key"] || "");
}

function fill(node, { attributes, children }) {
  for (const { name } of [...node.attributes]) if (!(name in attributes) && name !== "style") node.removeAttribute(name);
  node.onclick = node.oninput = node.onkeydown = node.onpointerdown = node.onchange = null;
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") || name === "disabled" || name === "checked") node[name] = value;
    else if (name === "style") for (const [property, to] of Object.entries(value)) node.style.setProperty(property, to);
    else if (name === "value") { if (node.value !== String(value)) node.value = value; }
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
  patch(node, children);
}

// Parts that several views have

const button = (words, onclick, attributes = {}) => h("button", { type: "button", onclick, ...attributes }, words);

const choice = (name, value, options, attributes = {}) =>
  h("div", { class: "group fill", role: "group", "aria-label": attributes.label || name },
    options.map(([key, words, described]) => button(words, () => change({ [name]: key, ...attributes.with }),
      { "aria-pressed": String(value === key), "data-key": name + key, ...(described ? { "aria-label": described } : {}) })));

function knob(name, label, words, least, most) {
  const now = Number(state[name]);
  const set = count => change({ [name]: String(count), x: "" });
  return h("div", { class: "knob" },
    h("b", {}, words),
    button("−", () => set(now - 1), { disabled: now <= least, "aria-label": say("less", { name: label }), "data-key": name + "less" }),
    h("input", { type: "range", min: least, max: most, step: 1, value: now, "aria-label": label, "aria-valuetext": words,
      oninput: event => set(event.target.value), "data-key": name }),
    button("+", () => set(now + 1), { disabled: now >= most, "aria-label": say("more", { name: label }), "data-key": name + "more" }));
}

const composing = event => event.isComposing || event.keyCode === 229; // the key is an input method's

const said = (words, tone = "") => h("p", { class: `said ${tone}`, role: "status", "aria-live": "polite" }, words);

// A chart: a row for each who, with spans [kind, piece, start, end] on an axis of `length`; `at` is a column to mark.

const NARROW = 16, DIGIT = 6.4, NAME = 50; // pixels: where numbers get small, a small digit, the names before the rows

function chart({ rows, names, length, label, dashed = false, at = null, onpick = null, nameWidth = NAME, whole = null }) {
  const lane = Math.min(innerWidth, 720) - nameWidth - 20;
  const longest = String(Math.max(...rows.flat().map(([, piece]) => piece))).length; // of all numbers: some without others would mislead
  // Pixels of a row's widest box of a kind: measured ones differ by a hair, and look alike all the same.
  const widest = (row, kind) => Math.max(...row.filter(each => each[0] === kind).map(([, , start, end]) => (lane * (end - start)) / length));
  const left = number => `${(100 * number) / length}%`;
  const pick = event => {
    const box = event.currentTarget.getBoundingClientRect();
    onpick(Math.max(0, Math.min(length - 0.001, ((event.clientX - box.left) / box.width) * length)));
  };
  return h("div", { class: dashed ? "chart dashed" : "chart", role: "img", "aria-label": label, style: { "--name": nameWidth + "px" } },
    rows.map((row, index) => h("div", { class: "row" },
      h("span", {}, names[index]),
      h("div", { class: "lane", ...(onpick ? { onclick: pick } : {}) },
        row.map(([kind, piece, start, end]) => {
          const width = widest(row, kind);
          return h("div", { class: `box ${kind}${width < NARROW ? " narrow" : ""}`, style: { left: left(start), width: left(end - start) } },
            piece && width > DIGIT * longest + 1 ? whole || piece : "");
        }),
        at === null ? null : h("div", { class: "cursor", style: { left: left(at[0]), width: left(at[1] - at[0]) } })))));
}

const spanAt = (row, time) => row.find(([, , start, end]) => start <= time && time < end);

// One timer for whatever plays

let playing = 0;
function stop() {
  clearInterval(playing);
  playing = 0;
}
function play(step, milliseconds) {
  stop();
  playing = setInterval(() => { if (!step()) { stop(); remember(); } draw(); }, milliseconds);
  draw();
}
