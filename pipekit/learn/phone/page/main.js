"use strict";
// The five views and the buttons that choose one.

const VIEWS = { grid: timetable, cards, fill: fillIn, scratch, exit };

function draw() {
  patch(document.getElementById("view"), h("main", {}, VIEWS[state.tab]()).children);
  patch(document.getElementById("tabs"), Object.keys(VIEWS).map(tab => button(say(`tab_${tab}`), () => open(tab),
    { "data-key": tab, ...(tab === state.tab ? { "aria-current": "page" } : {}) })));
}

function open(tab) {
  stop();
  document.getElementById("view").replaceChildren(); // another view begins with nothing of this one
  change({ tab });
  scrollTo(0, 0);
}

document.getElementById("view").replaceChildren();
addEventListener("resize", draw);
addEventListener("hashchange", () => { stop(); Object.assign(state, fresh(), fromAddress()); draw(); });
draw();
