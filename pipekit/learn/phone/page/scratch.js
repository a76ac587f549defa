"use strict";
// Scratch paper: a log of moves, two letters each, played from its beginning for every drawing. Values are looked up.

function scratch() {
  const game = played(state.sl);
  const table = DATA.scratch.cells[state.sc];
  return [
    state.sl ? null : h("p", {}, say("scratch_lead")),
    h("h2", {}, say("scratch_cells")),
    h("div", { class: "line" }, h("div", { class: "wide" }, choice("sc", state.sc, Object.keys(DATA.scratch.cells).map(count => [count, count]),
      { label: say("scratch_cells"), with: { sl: "" } }))),
    h("div", { class: "line" }, h("span", { class: "big wide" }, say("scratch_count", { count: game.count })),
      h("b", {}, asks(game))),
    path(game),
    game.asked ? turn(game) : over(game, table),
    h("div", { class: "line" },
      button(say("undo"), () => { stop(); change({ sl: state.sl.slice(0, -2) }); }, { disabled: !state.sl }),
      button(say("again"), () => { stop(); change({ sl: "" }); }, { disabled: !state.sl }),
      button(say("scratch_show"), () => show(table.moves), { disabled: !!playing })),
  ];
}

function asks(game) {
  if (!game.asked) return "";
  return game.asked === DATA.scratch.steps.length ? say("scratch_first") : say("scratch_asks", { step: game.asked });
}

// Where a log leads: which step is in the head, what cells hold, what is asked (0: nothing more), how many were worked out.
function played(log) {
  const last = DATA.scratch.steps.length;
  const game = { head: 0, cells: {}, asked: last, count: 0, said: "" };
  for (let place = 0; place + 1 < log.length && game.asked; place += 2) {
    const [move, cell] = [log[place], log[place + 1]];
    game.said = "";
    if (move === "A" && game.head < last) { game.head += 1; game.count += 1; }
    if (move === "w" && game.head) { game.cells[cell] = game.head; game.said = say("scratch_wrote", { number: cell }); }
    if (move === "j") game.head = cell === "0" ? 0 : game.cells[cell] || 0;
    while (game.asked && (game.head === game.asked || Object.values(game.cells).includes(game.asked))) {
      game.said = say("scratch_answered", { step: game.asked, value: DATA.scratch.values[game.asked] });
      game.asked -= 1;
    }
  }
  return game;
}

const move = letters => { stop(); change({ sl: state.sl + letters }); };

function turn(game) {
  const { values, steps } = DATA.scratch;
  const value = values[game.head];
  const atEnd = game.head === steps.length;
  return [
    said([game.said, game.head ? say("scratch_head", { step: game.head, value }) : say("scratch_head_start", { value })].join(" ")),
    h("div", { class: "choices" }, button(atEnd ? say("scratch_end") : say("scratch_next", { value, step: steps[game.head] }), () => move("A-"),
      { class: "first", disabled: atEnd, "data-key": "ahead" })),
    h("div", { class: "cells" },
      h("div", { class: "cell full" }, h("p", {}, say("scratch_start", { value: values[0] })),
        h("div", { class: "group" }, button(say("scratch_go"), () => move("j0"), { disabled: game.head === 0, "aria-label": say("scratch_go_start"), "data-key": "j0" }))),
      Array.from({ length: Number(state.sc) }, (_, index) => paper(game, String(index + 1)))),
  ];
}

function paper(game, number) {
  const held = game.cells[number];
  const words = held ? say("scratch_holds", { step: held, value: DATA.scratch.values[held] }) : say("scratch_empty");
  return h("div", { class: held ? "cell full" : "cell" },
    h("p", {}, h("b", {}, say("scratch_cell", { number })), " ", words),
    h("div", { class: "group" },
      button(say("scratch_write"), () => move("w" + number), { disabled: !game.head || held === game.head, "aria-label": say("scratch_write_name", { number }), "data-key": "w" + number }),
      button(say("scratch_go"), () => move("j" + number), { disabled: !held || held === game.head, "aria-label": say("scratch_go_name", { number }), "data-key": "j" + number })));
}

function path(game) {
  const kept = Object.values(game.cells);
  return h("div", { class: "path", role: "img", "aria-label": inSteps(game) },
    h("span", { class: "names" }, say("scratch_row_step"), h("br"), say("scratch_row_do"), h("br"), say("scratch_row_is")),
    DATA.scratch.values.map((value, step) => {
    const ticked = step > game.asked;
    const known = step === 0 || ticked || step === game.head || kept.includes(step);
    const look = step === game.head ? "here" : ticked ? "ticked" : step && step === game.asked ? "asked" : "";
    return h("span", { class: look }, step, ticked ? "√" : "", h("br"), step === 0 ? "–" : DATA.scratch.steps[step - 1], h("br"), known ? value : "?");
  }));
}

const inSteps = game => say("scratch_path") + say("colon") + DATA.scratch.steps.map((_, index) =>
  say(index + 1 > game.asked ? "scratch_ticked" : "scratch_step", { step: index + 1 })).join(say("comma"));

function over(game, table) {
  const key = table.verdicts[game.count] || "scratch_more";
  return [
    said(say(key, { count: game.count, cells: state.sc, optimum: table.optimum }), key === "scratch_optimum" ? "good" : ""),
    h("p", {}, say("scratch_tie")),
  ];
}

function show(moves) {
  state.sl = "";
  let place = 0;
  play(() => {
    state.sl += moves[place];
    place += 1;
    return place < moves.length && played(state.sl).asked > 0;
  }, 500);
}
