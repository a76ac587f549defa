"use strict";
// Three questions; the code of the three letters is looked up.

function exit() {
  const { questions, codes } = DATA.exit;
  const open = questions.filter((_, index) => state.q[index] === "-").length;
  const handedIn = state.qd === "1" && !open;
  return [
    h("p", {}, say("exit_lead")),
    questions.map((question, index) => asked(question, index, handedIn)),
    handedIn ? h("section", { class: "ask" }, h("h2", {}, say("exit_code")), h("p", { class: "code", role: "status" }, codes[state.q]), h("p", {}, say("exit_inside")))
      : h("p", {}, open ? say("exit_left", { count: open }) : ""),
    h("div", { class: "choices" }, handedIn ? button(say("again"), () => change({ q: FIRST.q[0], qd: "" }))
      : button(say("exit_hand_in"), () => change({ qd: "1" }), { class: "first", disabled: open > 0 })),
  ];
}

function asked(question, index, handedIn) {
  const chosen = state.q[index];
  const choose = letter => change({ q: state.q.slice(0, index) + letter + state.q.slice(index + 1) });
  return h("fieldset", {},
    h("legend", {}, say("exit_number", { number: index + 1 })),
    h("p", {}, question.asked),
    Object.entries(question.options).map(([letter, [words]]) => {
      const look = handedIn && letter === question.right ? "right" : letter === chosen ? (handedIn ? "wrong" : "chosen") : "";
      return h("label", { class: `option ${look}` },
        h("input", { type: "radio", name: `q${index}`, checked: letter === chosen, disabled: handedIn, onchange: () => choose(letter), "data-key": `q${index}${letter}` }),
        h("span", {}, h("b", {}, letter), " ", words, { right: " √", wrong: " ×" }[look] || ""));
    }),
    handedIn ? said([say(chosen === question.right ? "exit_good" : "exit_bad"), say("colon"), question.options[chosen][1]].join(""),
      chosen === question.right ? "good" : "bad") : null);
}
