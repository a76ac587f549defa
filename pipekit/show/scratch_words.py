"""The scratch-paper game's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- moves that are refused, with the reason
    "scratch_no_start": (
        "脑子里现在没有数：先从起点开始，或者先拿一格草稿。",
        "There is no number in your head: begin at the start, or take a cell first.",
    ),
    "scratch_nothing_to_keep": (
        "脑子里现在没有数，没有东西可记。",
        "There is no number in your head, so there is nothing to keep.",
    ),
    "scratch_start_is_printed": (
        "起点印在题目上，不用记，也不占草稿格。",
        "The start is printed: it needs no cell.",
    ),
    "scratch_kept": (
        "第 {step} 步的数已经在第 {cell} 格里了。",
        "Step {step} is in cell {cell} already.",
    ),
    "scratch_full": (
        "第 {cell} 格里是第 {step} 步，后面还会问到；真要换，就先擦掉它。",
        "Cell {cell} holds step {step}, which will still be asked for; wipe it first if you mean it.",
    ),
    "scratch_too_late": (
        "现在问的是第 {asked} 步，第 {step} 步在它后面：只能往前算，倒不回去。",
        "Step {asked} is asked for, and step {step} lies behind it: one can only compute forward.",
    ),
    "scratch_empty": ("第 {cell} 格是空的。", "Cell {cell} is empty."),
    "scratch_over": (
        "都答完了。想再来一次，请按“重新开始”。",
        "All is answered. To play again, press Start again.",
    ),
    "chain_start": (
        "题目开头要写起点，是一个不超过六位的整数；这里看到的是 {asked}。",
        "A chain begins with its start, a whole number of at most six digits; here it says {asked}.",
    ),
    "chain_step": (
        "第 {number} 步看不懂：{asked}。请写 + - x / 和一个整数，例如 +4。",
        "Step {number} can't be read: {asked}. Write + - x / and a whole number, such as +4.",
    ),
    "chain_length": (
        "这里有 {asked} 步；请写 {least} 到 {most} 步。",
        "There are {asked} steps; write {least} to {most} of them.",
    ),
    "chain_zero": (
        "第 {number} 步除以 0，算不了；请换一个数。",
        "Step {number} divides by 0; take another number.",
    ),
    "chain_large": (
        "第 {number} 步的数太大了（超过 {most}），心算不来；请换小一点的数。",
        "Step {number} comes out too large (over {most}) to do in the head; take smaller numbers.",
    ),
}
