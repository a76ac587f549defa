"""The scratch-paper game's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- the game
    "scratch_title": ("倒着问", "Asked backward"),
    "scratch_cells": ("草稿格", "Cells"),
    "scratch_chain": ("题目", "Chain"),
    "scratch_chain_use": ("换成这道题", "Use it"),
    "scratch_hint": ("提示", "Hint"),
    "scratch_best_game": ("看算得最少的走法", "Show the best"),
    "scratch_race": ("和电脑比", "Race the computer"),
    "scratch_name": ("题目：一步一步往前算", "The chain: computed step by step"),
    "scratch_cells_name": ("脑子、草稿格和按钮", "Head, cells and buttons"),
    "scratch_step": ("第 {step} 步", "Step {step}"),
    "scratch_start": ("起点", "Start"),
    "scratch_times": ("算了几次", "Times"),
    "scratch_value": ("知道的数", "Known"),
    "scratch_in_cell": ("在格 {cell}", "cell {cell}"),
    "scratch_value_now": ("{step}：脑子里是 {value}", "{step}: {value} is in your head"),
    "scratch_value_kept": ("{step}：记在格 {cell} 里", "{step}: kept in cell {cell}"),
    "scratch_value_asked": ("{step}：现在问的", "{step}: asked for now"),
    "scratch_value_unknown": ("{step}：不记得了", "{step}: not known now"),
    "scratch_counted": ("{step}：算了 {count} 次", "{step}: computed {count} times"),
    "scratch_computer": ("电脑记着", "Computer"),
    "scratch_computer_keeps": ("电脑记着{step}", "the computer keeps {step}"),
    "scratch_compute": ("算下一步：{step}", "Compute {step}"),
    "scratch_compute_none": ("算下一步", "Compute"),
    "scratch_restart": ("从起点 {start} 开始", "Begin at {start}"),
    "scratch_cell_empty": ("格 {cell}：空", "Cell {cell}: empty"),
    "scratch_cell_holds": ("第 {step} 步={value}", "step {step}: {value}"),
    "scratch_cell_name": ("格 {cell}：第 {step} 步是 {value}", "cell {cell}: step {step} is {value}"),
    "scratch_wipe": ("擦", "Wipe"),
    "scratch_wipe_name": ("擦掉格 {cell}", "wipe cell {cell}"),
    "scratch_count": ("一共算了 {count} 次", "Computed: {count}"),
    "scratch_count_race": ("你算了 {count} 次，电脑 {computer} 次", "You {count}, computer {computer}"),
    "scratch_ask": (
        "先猜：有 {cells} 格草稿，从头到尾一共要算几次？",
        "Guess first: {cells} cells; how many steps will you compute in all?",
    ),
    "scratch_guess_number": (
        "看不懂 {asked}：请写一个整数，例如 20。",
        "Can't read {asked}: write a whole number, such as 20.",
    ),
    # -- what is said
    "scratch_first_way": (
        "先一步一步算到第 {last} 步。想记住脑子里的数，就按一个空的草稿格。B 会倒着问：先问第 {before} 步，一直问到第 1 步。",
        "First compute on to step {last}. Press an empty cell to keep what is in your head. "
        "B will ask backward, from step {before} down to step 1.",
    ),
    "scratch_first_way_no_cell": (
        "先一步一步算到第 {last} 步。没有草稿格，什么也记不住；B 会倒着问：先问第 {before} 步，一直问到第 1 步。",
        "First compute on to step {last}. Without cells nothing is kept; B will ask backward, from step {before} down to step 1.",
    ),
    "scratch_where": (
        "答对了：第 {answered} 步是 {value}。B 又问：第 {asked} 步是多少？从起点或者一格草稿开始。",
        "Right: step {answered} is {value}. B asks: what was step {asked}? Begin at the start or at a cell.",
    ),
    "scratch_on": (
        "B 问：第 {asked} 步是多少？脑子里是第 {head} 步：{value}。",
        "B asks: what was step {asked}? In your head is step {head}: {value}.",
    ),
    "scratch_on_start": (
        "B 问：第 {asked} 步是多少？脑子里是起点：{value}。",
        "B asks: what was step {asked}? In your head is the start: {value}.",
    ),
    "scratch_hint_compute": ("提示：算第 {step} 步。", "Hint: compute step {step}."),
    "scratch_hint_keep": ("提示：把第 {step} 步记进格 {cell}。", "Hint: keep step {step} in cell {cell}."),
    "scratch_hint_take": (
        "提示：从格 {cell} 的第 {step} 步开始。",
        "Hint: begin at step {step}, in cell {cell}.",
    ),
    "scratch_hint_restart": ("提示：从起点开始。", "Hint: begin at the start."),
    "scratch_hint_wipe": ("提示：擦掉格 {cell}，腾出地方。", "Hint: wipe cell {cell} to make room."),
    "scratch_played_all": (
        "一共算了 {count} 次：要用的数都记着，一步也没有重算。这是用草稿换时间。",
        "Computed {count}: every number was kept, and no step done twice. Memory buys time.",
    ),
    "scratch_played_nothing": (
        "一共算了 {count} 次：一个数也没记，每问一次都从起点再算。1 加到 {steps}，就是 {count}。",
        "Computed {count}: nothing was kept, so each question began at the start. 1 + 2 + ... + {steps} = {count}.",
    ),
    "scratch_played_best": (
        "一共算了 {count} 次：{cells} 格草稿，没有更少的走法。第一遍记了{first}，{rest}。",
        "Computed {count}: with as many cells ({cells}) none does with less. Kept on the first way: {first}; {rest}.",
    ),
    "scratch_played_lesson": (
        "一共算了 {count} 次，是课上讲的走法：第一遍记{first}，另一格等往回问时才用，每一段重算 {redone} 步：{steps}+{segments}×{redone}。"
        "最少是 {optimum} 次：那一格第一遍就用上。",
        "Computed {count}, the lesson's way: {first} kept on the first way, the other cell only while going back, {redone} steps "
        "redone in each part: {steps}+{segments}×{redone}. The fewest is {optimum}: use that cell on the first way too.",
    ),
    "scratch_played_no_third": (
        "一共算了 {count} 次：第一遍记了{first}，往回问时没有再记，每一段里有的步又算了一遍。"
        "再用一格，往回时记一个，就是 15 次；最少是 {optimum} 次。",
        "Computed {count}: {first} kept on the first way, nothing while going back, so steps of each part were done again. "
        "One more cell, used on the way back, makes it 15; the fewest is {optimum}.",
    ),
    "scratch_played_no_third_other": (
        "一共算了 {count} 次：第一遍记了{first}，往回问时没有再记，每一段里有的步又算了一遍。最少是 {optimum} 次。",
        "Computed {count}: {first} kept on the first way, nothing while going back, so steps of each part were done again. "
        "The fewest is {optimum}.",
    ),
    "scratch_played_best_of_used": (
        "一共算了 {count} 次：只用了 {used} 格，{used} 格里没有更少的了；{cells} 格都用上，最少是 {optimum} 次。",
        "Computed {count}: you used {used} of {cells} cells, and with {used} none does with less; with all of them it takes {optimum}.",
    ),
    "scratch_played_own": (
        "一共算了 {count} 次，是你自己的走法；{cells} 格草稿，最少是 {optimum} 次。算得最多的是第 {step} 步：{times} 次。",
        "Computed {count}, a way of your own; with as many cells ({cells}) the fewest is {optimum}. Most often done: step {step}, {times} times.",
    ),
    "scratch_redone_none": ("往回时没有再记", "nothing on the way back"),
    "scratch_redone": ("往回时又记了{later}", "on the way back {later}"),
    "scratch_one_step": ("第 {steps} 步", "step {steps}"),
    "scratch_steps": ("第 {steps} 步", "steps {steps}"),
    "scratch_and": ("、", ", "),
    "scratch_you_guessed": ("你猜的是 {guess} 次。", "You guessed {guess}."),
    "scratch_training": (
        "训练也这样：9 层分成 3 段擦掉重算，PyTorch 前后一共算 15 层。",
        "Training does the same: 9 layers recomputed in 3 segments make PyTorch run 15 layers.",
    ),
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
        "第 {step} 步的数已经在格 {cell} 里了。",
        "Step {step} is in cell {cell} already.",
    ),
    "scratch_full": (
        "格 {cell} 里是第 {step} 步，后面还会问到；真要换，就先擦掉它。",
        "Cell {cell} holds step {step}, which will still be asked for; wipe it first if you mean it.",
    ),
    "scratch_too_late": (
        "现在问的是第 {asked} 步，第 {step} 步在它后面：只能往前算，倒不回去。",
        "Step {asked} is asked for, and step {step} lies behind it: one can only compute forward.",
    ),
    "scratch_empty": ("格 {cell} 是空的。", "Cell {cell} is empty."),
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
