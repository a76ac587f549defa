"use strict";
// Twelve cards, three people: how many cards a piece, how quick is everybody.

const PEOPLE = "ABC";

function cards() {
  return [h("p", {}, say("cards_lead")), state.cg === "" ? whichIsQuickest() : hands()];
}

function whichIsQuickest() {
  return h("section", { class: "ask" },
    h("p", {}, say("cards_ask")),
    h("div", { class: "choices" },
      ["1", "3", "12"].map(count => button(say(`cards_way_${count}`), () => change({ cg: count }))),
      button(say("no_guess"), () => change({ cg: "n" }))));
}

function hands() {
  const speeds = DATA.cards[`${state.cs}+${state.ch}`];
  const way = speeds.ways[state.cm];
  const time = state.ct === "" ? null : Math.min(Number(state.ct), way.done);
  const longest = Math.max(...Object.values(speeds.ways).map(each => each.done));
  return [
    state.cg === "n" ? null : said(say(DATA.cards["111+0"].best.includes(Number(state.cg)) ? "cards_guess_right" : "cards_guess_wrong"),
      DATA.cards["111+0"].best.includes(Number(state.cg)) ? "good" : ""),
    h("h2", {}, say("cards_pieces")),
    h("div", { class: "line" }, h("div", { class: "wide" }, choice("cm", state.cm, Object.keys(speeds.ways).map(count =>
      [count, String(12 / count), say("cards_piece", { count: 12 / count })]), { label: say("cards_pieces"), with: { ct: "" } }))),
    h("section", {},
      h("h2", {}, say("cards_timetable")),
      chart({ rows: way.rows, names: [...PEOPLE], length: longest, nameWidth: 26, label: inWords(way),
        at: time === null ? null : [time - longest / 200, time + longest / 200], onpick: at => change({ ct: String(Math.min(Math.round(at), way.done)) }) })),
    clock(way, time),
    h("table", { class: "figures" },
      h("tr", {}, h("td", {}, say("cards_first")), h("td", {}, h("b", {}, say("cards_at", { count: way.first })))),
      h("tr", {}, h("td", {}, say("cards_done")), h("td", {}, h("b", {}, say("cards_at", { count: way.done })))),
      h("tr", {}, h("td", {}, say("cards_idle")), h("td", {}, h("b", {}, way.idle)))),
    speedKnobs(),
    compared(speeds),
  ];
}

const inWords = way => way.rows.map((row, index) => row.filter(([kind]) => kind === "F").map(([, piece, start, end]) =>
  say("cards_chart", { who: PEOPLE[index], piece, start, end })).join(say("comma"))).join(say("and"));

function clock(way, time) {
  const step = Math.max(1, Math.round(way.done / 24));
  const to = seconds => { stop(); change({ ct: String(Math.max(0, Math.min(seconds, way.done))) }); };
  const words = time === null ? say("cards_now", { time: 0 }) : say("cards_now", { time }) + say("colon") + (time >= way.done ? say("cards_over") :
    way.rows.map((row, index) => {
      const [kind, piece] = spanAt(row, time);
      return say("does", { who: PEOPLE[index], what: say(`cards_does_${kind}`, { piece }) });
    }).join(say("and")));
  const run = () => play(() => {
    const now = Math.min(Number(state.ct) + step, way.done);
    state.ct = String(now);
    return now < way.done;
  }, 250);
  return h("div", {},
    h("div", { class: "line" },
      button("◀", () => to((time || 0) - 1), { "aria-label": say("back_slot"), disabled: !time, "data-key": "back" }),
      playing ? button(say("pause"), () => { stop(); change({}); }, { class: "first wide", "data-key": "play" })
        : button(say("play"), () => { if (time === null || time >= way.done) state.ct = "0"; run(); }, { class: "first wide", "data-key": "play" }),
      button("▶", () => to((time || 0) + 1), { "aria-label": say("next_slot"), disabled: time !== null && time >= way.done, "data-key": "next" })),
    said(words));
}

function speedKnobs() {
  const set = (index, count) => [...state.cs].map((old, place) => (place === index ? count : old)).join("");
  const row = (label, options) => h("div", { class: "line" }, h("span", { class: "wide" }, label),
    h("div", { class: "group", role: "group", "aria-label": label }, options));
  const press = (part, words, on) => button(words, () => { stop(); change({ ...part, ct: "" }); }, { "aria-pressed": String(on) });
  return h("section", {},
    [...PEOPLE].map((who, index) => row(say("cards_speed", { who }), DATA.most.seconds.map(count =>
      press({ cs: set(index, String(count)) }, say("cards_seconds", { count }), state.cs[index] === String(count))))),
    row(say("cards_hand_over"), DATA.most.hand_overs.map(count =>
      press({ ch: String(count) }, say("cards_seconds", { count }), state.ch === String(count)))));
}

function compared(speeds) {
  return h("section", {},
    h("h2", {}, say("cards_table")),
    h("table", {},
      h("tr", {}, ["cards_pieces", "cards_first", "cards_done", "cards_best"].map(key => h("th", { scope: "col" }, key === "cards_best" ? "" : say(key)))),
      Object.entries(speeds.ways).map(([count, way]) => {
        const best = speeds.best.includes(Number(count));
        return h("tr", { class: (best ? "best" : "") + (count === state.cm ? " now" : "") },
          h("td", {}, 12 / count), h("td", {}, way.first), h("td", {}, way.done), h("td", {}, best ? say("cards_best") : ""));
      })));
}
