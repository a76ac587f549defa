// A notebook would take a menu's arrows and letters for its own commands: in a panel they stay with the menu.

function keepMenuKeys(event) {
  if (event.target.tagName === "SELECT" && !event.ctrlKey && !event.metaKey) event.stopPropagation();
}

// Of the panel around `root`, which is there once it has a size. Returns what ends the watching.
function keepMenus(root) {
  const attached = new ResizeObserver(() => root.closest(".pipekit-room")?.addEventListener("keydown", keepMenuKeys));
  attached.observe(root);
  return () => attached.disconnect();
}

