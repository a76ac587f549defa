// Dragging with a mouse, a pen or a finger: stands before the script of the board, and of the games' table.

const MOVED = 6; // pixels after which a press is a drag

// The owner says what can be dragged (`draggable`: the thing that a target belongs to, if any), takes it in hand and gives
// its likeness (`lift`), finds where it could be put among what lies under the pointer (`under`), and puts it down (`putDown`:
// there, or nowhere).
class Drag {
  constructor(root, owner) {
    this.root = root;
    this.owner = owner;
    this.held = null;
    this.dropped = false;
    root.addEventListener("pointerdown", (event) => this.press(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.release(event));
    root.addEventListener("pointercancel", () => this.letGo());
    root.addEventListener("dragstart", (event) => event.preventDefault()); // a browser would drag selected words
  }

  press(event) {
    this.dropped = false;
    const target = this.owner.draggable(event.target);
    if (!target || event.button !== 0) return;
    this.letGo(); // another finger, perhaps: what it dragged stays where it was
    this.held = { target, x: event.clientX, y: event.clientY, ghost: null, pointer: event.pointerId };
  }

  move(event) {
    const held = this.held;
    if (!held || event.pointerId !== held.pointer) return;
    if (!held.ghost) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < MOVED) return;
      this.root.setPointerCapture(event.pointerId);
      held.ghost = this.owner.lift(held.target);
      held.ghost.classList.add("pk-ghost");
      held.ghost.removeAttribute("data-key");
      this.root.append(held.ghost);
    }
    Object.assign(held.ghost.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
    this.light(this.under(event));
  }

  under(event) {
    return this.owner.under(document.elementsFromPoint(event.clientX, event.clientY));
  }

  light(over) {
    for (const each of this.root.querySelectorAll(".pk-over")) each.classList.remove("pk-over");
    over?.classList.add("pk-over");
  }

  release(event) {
    const held = this.held;
    if (!held || event.pointerId !== held.pointer) return;
    const over = held.ghost && this.under(event);
    this.letGo();
    if (!held.ghost) return;
    this.dropped = true;
    setTimeout(() => (this.dropped = false), 0);
    this.owner.putDown(over);
  }

  letGo() {
    this.held?.ghost?.remove();
    this.light(null);
    this.held = null;
  }

  // Whether a click is none: some browsers send one at the end of a drag.
  endedIn() {
    const dropped = this.dropped;
    this.dropped = false;
    return dropped;
  }
}

