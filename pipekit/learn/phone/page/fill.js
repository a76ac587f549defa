"use strict";
// A grid to fill in: every answer is looked up, with the sentence that says why.

function fillIn() {
  const puzzle = DATA.puzzles[state.f];
  const filled = answersOf(puzzle);
  const right = (row, column) => filled[row][column] === puzzle.answers[row][column];
  const places = puzzle.answers.flatMap((line, row) => line.map((_, column) => [row, column]));
  const left = places.filter(([row, column]) => !right(row, column));
  const chosen = state.fx === "" ? left[0] || [0, 0] : inside(state.fx.split(",").map(Number), filled);
  return [
    h("div", { class: "line" }, h("div", { class: "wide" }, choice("f", state.f, [["cards", say("fill_cards")], ["gpus", say("fill_gpus")]],
      { label: say("fill_which"), with: { fx: "" } }))),
    h("p", {}, say(`fill_lead_${state.f}`)),
    sheet(puzzle, filled, right, chosen),
    palette(puzzle, filled, right, chosen),
    left.length ? reply(puzzle) : said(
      say("fill_all", { ...puzzle, slips: state["s" + state.f] }), "good"),
    h("div", { class: "line" }, h("span", { class: "wide" }, say("fill_left", { count: left.length }), say("comma"), say("fill_slips", { count: state["s" + state.f] })),
      button(say("again"), () => { lastSaid = null; change({ ["f" + state.f]: "", ["s" + state.f]: "0", fx: "" }); })),
  ];
}

// (rows, columns) of what was put: a choice, or "." ; the first cell is given.
function answersOf(puzzle) {
  const width = puzzle.answers[0].length, put = state["f" + state.f];
  const filled = puzzle.answers.map((line, row) => line.map((_, column) => put[row * width + column] || "."));
  filled[0][0] = puzzle.answers[0][0];
  return filled;
}

function sheet(puzzle, filled, right, chosen) {
  const width = filled[0].length;
  const name = (row, column) => {
    const answer = filled[row][column];
    const what = row + column === 0 ? say("fill_given") : answer === "." ? say("fill_empty") : answer === "-" ? say("kind_s") : say("fill_piece", { piece: answer });
    return say("fill_cell", { who: puzzle.workers[row], slot: column + 1, what: answer === "." || right(row, column) ? what : say("fill_wrong_mark", { what }) });
  };
  const look = (row, column) => {
    const answer = filled[row][column];
    if (row + column === 0) return "work given";
    return answer === "." ? "" : !right(row, column) ? "wrong" : answer === "-" ? "rest" : "work";
  };
  const here = (row, column) => row === chosen[0] && column === chosen[1];
  const cell = (row, column) => button(shown(filled[row][column]), () => change({ fx: `${row},${column}` }), {
    class: look(row, column), "aria-label": name(row, column), "aria-pressed": String(here(row, column)),
    tabindex: here(row, column) ? 0 : -1, id: `cell${row}-${column}` });
  return h("div", { class: "sheet", role: "group", "aria-label": say(`fill_${puzzle.name}`), onkeydown: event => typed(event, puzzle, filled, right, chosen),
    style: { "grid-template-columns": `minmax(30px, max-content) repeat(${width}, 44px)` } },
    h("span", {}, puzzle.corner), filled[0].map((_, column) => h("span", {}, column + 1)),
    filled.map((line, row) => [h("span", {}, puzzle.short[row]), line.map((_, column) => cell(row, column))]));
}

const shown = answer => answer === "." ? "" : answer === "-" ? say("fill_idle") : answer;
const inside = ([row, column], filled) =>
  [Math.max(0, Math.min(filled.length - 1, row)), Math.max(0, Math.min(filled[0].length - 1, column))];
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function typed(event, puzzle, filled, right, chosen) {
  if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's: another tab, the page before
  const [row, column] = chosen;
  if (event.key in MOVES) {
    const [down, along] = MOVES[event.key];
    const to = inside([row + down, column + along], filled);
    change({ fx: to.join(",") });
    document.getElementById(`cell${to.join("-")}`).focus();
  } else {
    const answer = event.key === "0" ? "-" : event.key;
    if (!puzzle.choices.includes(answer)) return;
    put(puzzle, filled, right, chosen, answer);
    const selected = document.querySelector('.sheet [aria-pressed="true"]');
    if (selected) selected.focus();
  }
  event.preventDefault();
}

function put(puzzle, filled, right, [row, column], answer) {
  if (right(row, column)) return;
  const good = answer === puzzle.answers[row][column];
  filled[row][column] = answer;
  const flat = filled.flat().join("");
  const slips = String(Number(state["s" + state.f]) + (good ? 0 : 1));
  lastSaid = [state.f, row, column, answer];
  change({ ["f" + state.f]: flat, ["s" + state.f]: slips, fx: good ? next(puzzle, filled, row, column) : `${row},${column}` });
}

let lastSaid = null; // the answer that the line below the grid is about

// The next empty cell, row by row; after the last one the first that is left.
function next(puzzle, filled, row, column) {
  const width = filled[0].length, count = width * filled.length, start = row * width + column;
  for (let step = 1; step < count; step++) {
    const [r, c] = [Math.floor(((start + step) % count) / width), (start + step) % width];
    if (filled[r][c] !== puzzle.answers[r][c]) return `${r},${c}`;
  }
  return `${row},${column}`;
}

function palette(puzzle, filled, right, chosen) {
  const done = right(...chosen);
  return h("div", { class: "line" }, h("div", { class: "group fill wide", role: "group", "aria-label": say("fill_how") },
    puzzle.choices.map(answer => button(shown(answer), () => put(puzzle, filled, right, chosen, answer),
      { disabled: done, "data-key": "put" + answer, ...(answer === "-" ? {} : { "aria-label": say("fill_piece", { piece: answer }) }) }))));
}

function reply(puzzle) {
  if (lastSaid && lastSaid[0] === state.f) {
    const [, r, c, answer] = lastSaid;
    const good = answer === puzzle.answers[r][c];
    return said(puzzle.sentences[puzzle.said[r][c][answer]], good ? "good" : "bad");
  }
  return said(say("fill_how"));
}
