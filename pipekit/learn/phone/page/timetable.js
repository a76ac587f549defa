"use strict";
// K and M, and the two timetables: predicted and measured.

let badGuess = false;

function timetable() {
  return state.g === "" ? relayRace() : moving();
}

function relayRace() {
  const grid = DATA.predicted["4,1"].forward;
  const guess = words => {
    const number = Number(words);
    badGuess = words.trim() === "" || !(number >= 0 && number <= 100);
    change(badGuess ? {} : { g: String(Math.round(10 * number) / 10), m: "4" });
  };
  const field = () => document.getElementById("guess").value;
  return [
    drawn(grid, say("predicted"), true),
    h("section", { class: "ask" },
      h("p", {}, say("grid_ask")),
      h("div", { class: "line" },
        h("input", { id: "guess", type: "text", inputmode: "numeric", maxlength: 5, "aria-label": say("grid_guess"), placeholder: "0–100",
          onkeydown: event => { if (event.key === "Enter" && !composing(event)) guess(field()); } }),
        h("span", {}, "%"),
        button(say("guessed"), () => guess(field()), { class: "first" }),
        button(say("no_guess"), () => change({ g: "n", m: "4" }))),
      badGuess ? said(say("grid_guess_bad"), "bad") : h("p", { class: "small" }, say("grid_guess"))),
  ];
}

function moving() {
  const key = `${state.k},${state.m}`;
  const grid = DATA.predicted[key][state.v];
  const ran = DATA.measured[key];
  const real = ran && ran[state.v];
  const length = Math.max(grid.slots, real ? real.slots : 0);
  const at = state.x === "" ? null : Math.min(Number(state.x), grid.slots - 1);
  const cursor = at === null ? null : [at, at + 1];
  const pick = time => change({ x: String(Math.min(Math.floor(time), grid.slots - 1)) });
  return [
    knob("k", say("stages"), say("stages_value", { count: state.k }), DATA.most.k[0], DATA.most.k[1]),
    knob("m", say("pieces"), say("pieces_value", { count: state.m }), DATA.most.m[0], DATA.most.m[1]),
    h("div", { class: "line" }, h("div", { class: "wide" },
      choice("v", state.v, [["forward", say("forward")], ["both", say("both")]], { label: say("view"), with: { x: "" } }))),
    figures(grid, real),
    drawn(grid, say("predicted"), true, length, cursor, pick),
    real ? drawn(real, say("measured"), false, length, cursor, pick) : h("p", {}, say("not_measured")),
    ran ? h("p", { class: "small" }, ran.on) : null,
    walk(grid, at),
    ran ? h("p", { class: "small" }, say("run_on", ran)) : null,
  ];
}

function drawn(grid, title, dashed, length = grid.slots, at = null, onpick = null) {
  const names = grid.rows.map((_, index) => DATA.devices[index]);
  const label = `${title}${say("colon")}` + grid.rows.map((row, index) => say("row", { who: names[index], what: runs(row) })).join(say("and"));
  return h("section", {},
    h("h2", {}, title),
    chart({ rows: grid.rows, names, length, label, dashed, at, onpick, whole: pieces(grid) === 1 ? say("whole") : null }));
}

const pieces = grid => Math.max(...grid.rows[0].map(([, piece]) => piece));

// A row in words: neighbours of one kind together.
function runs(row) {
  const found = [];
  for (const [kind, , start, end] of row) {
    const last = found[found.length - 1];
    if (last && last.kind === kind) last.end = end;
    else found.push({ kind, start, end });
  }
  return found.map(({ kind, start, end }) => {
    const first = Math.round(start) + 1, last = Math.max(first, Math.round(end));
    return say(first === last ? "span_one" : "span", { start: first, end: last, what: say(`kind_${kind}`) });
  }).join(say("comma"));
}

function walk(grid, at) {
  const to = column => change({ x: String(column) });
  const words = at === null ? say("tap") : [say("slot", { slot: at + 1 }) + say("colon"),
    grid.rows.map((row, index) => {
      const [kind, piece] = spanAt(row, at + 0.5);
      return say("does", { who: DATA.devices[index], what: say(`does_${kind}`, { piece }) });
    }).join(say("and"))].join("");
  return h("div", {},
    h("div", { class: "legend", "aria-hidden": "true" },
      [["F", "kind_F"], ...(state.v === "both" ? [["B", "kind_B"]] : []), ["s", "kind_s"]].map(([kind, key]) =>
        h("span", {}, h("i", { class: `box ${kind}`, style: { position: "static" } }), say(key)))),
    h("div", { class: "line" },
      button("◀", () => to(at === null ? 0 : at - 1), { "aria-label": say("back_slot"), disabled: at === 0, "data-key": "back" }),
      h("b", { class: "wide" }, at === null ? "" : say("slot", { slot: at + 1 })),
      button("▶", () => to(at === null ? 0 : at + 1), { "aria-label": say("next_slot"), disabled: at !== null && at + 1 >= grid.slots, "data-key": "next" })),
    said(words));
}

function figures(grid, real) {
  const guess = state.g !== "n" && state.k === "4" && state.m === "4" ? h("p", { class: "small" }, say("first_try", { guess: state.g, predicted: grid.bubble, measured: real ? real.bubble : "–" })) : null;
  const line = (name, mine, measured) => h("tr", {}, h("td", {}, name), h("td", {}, h("b", {}, mine)), h("td", {}, h("b", {}, measured)));
  return h("div", {},
    h("table", { class: "figures" },
      h("tr", {}, h("th", {}), h("th", { scope: "col" }, say("predicted_short")), h("th", { scope: "col" }, say("measured_short"))),
      line(say("idle_share"), grid.bubble, real ? real.bubble : "–"),
      line(say("busy"), grid.busy, real ? real.busy : "–"),
      line(say("time"), say("slots", { count: grid.slots }), real ? say("slots", { count: real.slots }) : "–")),
    guess || h("p", { class: "small" }, say("of_uncut", { count: grid.slots, uncut: grid.uncut, share: grid.share })));
}
