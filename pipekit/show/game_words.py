"""The games' part of the table of words (`i18n`): the table, the laundry, the grid puzzle."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- every game
    "game_restart": ("重新开始", "Start again"),
    "game_refused": ("不行：{why}。", "No: {why}."),
    "game_then": ("", " "),  # between two sentences
    # -- the laundry
    "laundry_title": ("洗衣房", "The laundry"),
    "laundry_baskets": ("衣服", "Baskets"),
    "laundry_baskets_unit": ("篮", ""),
    "laundry_machines": ("机器", "Machines"),
    "laundry_machines_unit": ("台", ""),
    "laundry_slow": ("慢机器", "Slow machine"),
    "laundry_nobody": ("没有", "none"),
    "laundry_one_by_one": ("一篮接一篮", "One basket after another"),
    "laundry_line": ("流水线", "Production line"),
    "laundry_way": ("怎么洗", "How"),
    "laundry_back": ("退一格", "Back one slot"),
    "laundry_forward": ("进一格", "On one slot"),
    "laundry_play": ("播放", "Play"),
    "laundry_pause": ("暂停", "Pause"),
    "laundry_washer": ("洗衣机", "Washer"),
    "laundry_dryer": ("烘干机", "Dryer"),
    "laundry_iron": ("熨衣板", "Iron"),
    "laundry_fold": ("折衣台", "Folding table"),
    "laundry_wardrobe": ("衣柜", "Wardrobe"),
    "laundry_slowly": ("{machine}（{count} 格）", "{machine} ({count} slots)"),
    "laundry_clock": ("钟", "Clock"),
    "laundry_minutes": ("{count} 分钟", "{count} min"),
    "laundry_queue": ("还没洗", "Waiting"),
    "laundry_done": ("做完了", "Done"),
    "laundry_basket": ("{number} 号篮", "basket {number}"),
    "laundry_behind": ("等着：{baskets}", "next: {baskets}"),
    "laundry_comma": ("，", ", "),
    "laundry_idle": ("闲着", "idle"),
    "laundry_floor": ("现在：哪台机器在做哪一篮", "Now: which machine works on which basket"),
    "laundry_grid": (
        "时间表：一行一台机器，一格 30 分钟",
        "Timetable: a row a machine, a slot is 30 minutes",
    ),
    "laundry_cell": ("{machine}，第 {slot} 格：{what}", "{machine}, slot {slot}: {what}"),
    "laundry_tally": ("干活 {busy}，闲着 {idle}", "busy {busy}, idle {idle}"),
    "laundry_now": (
        "第 {slot} 格（{start} 到 {end} 分钟）：{machines}。",
        "Slot {slot} ({start} to {end} min): {machines}.",
    ),
    "laundry_works": ("{machine}做 {number} 号篮", "{machine} has basket {number}"),
    "laundry_rests": ("{machine}闲着", "{machine} is idle"),
    "laundry_one_by_one_done": (
        "都做完了：{total} 分钟。一篮接一篮，每洗一篮，洗衣机要白等 {waits} 分钟。",
        "All done: {total} minutes. One basket after another, the washer waits {waits} minutes for each basket.",
    ),
    "laundry_line_done": (
        "都做完了：{total} 分钟。一篮接一篮要 {other} 分钟，少用 {saved} 分钟。",
        "All done: {total} minutes. One basket after another takes {other} minutes: {saved} minutes fewer.",
    ),
    "laundry_you_guessed": ("你们猜的是 {guess} 分钟。", "You guessed {guess} minutes."),
    "laundry_you_were_right": ("你们猜对了！", "You guessed right!"),
    "laundry_slow_sets": (
        "{machine}最慢：别的机器再快，也要等它。",
        "The slow one is the {machine}: however quick the others are, they wait for it.",
    ),
    "laundry_ask": (
        "先猜：每台机器做一篮要 30 分钟。流水线上洗完一篮马上洗下一篮，都做完要几分钟？",
        "Guess first: a machine needs 30 min a basket; on the line the next basket follows at once. How many minutes?",
    ),
    "laundry_guess": ("几分钟", "minutes"),
    "laundry_locked": ("先猜一猜，再看流水线。", "Guess first; then look at the line."),
    "laundry_kept": (
        "猜的记下了：{guess} 分钟。答案先留着，学完“切成小份”再来看。",
        "Your guess is noted: {guess} minutes. The answer waits until the lesson has cut a batch into pieces.",
    ),
    "laundry_kept_unguessed": (
        "答案先留着，学完“切成小份”再来看。",
        "The answer waits until the lesson has cut a batch into pieces.",
    ),
    # -- the grid puzzle
    "puzzle_title": ("填时间表", "Fill the grid"),
    "puzzle_task": ("哪一题", "Which puzzle"),
    "puzzle_forward": ("流水线：只看往前算", "Production line, forward only"),
    "puzzle_uncut": ("接力赛：数格子", "Relay race: count the cells"),
    "puzzle_gpipe": ("GPipe：往前算和往回改", "GPipe: forward and back"),
    "puzzle_free": ("自己排", "Your own order"),
    "puzzle_split": ("自己排：往回改可拆开", "Your own, split backwards"),
    "puzzle_grid": ("时间表：一行一块显卡，一列一格", "Timetable: a row a GPU, a column a slot"),
    "puzzle_batch": ("批", "all"),
    "puzzle_take_off": ("先选一格活，再按这里：把它拿掉", "Choose an op, then press here: it is taken off"),
    "puzzle_take_first": (
        "先选上面的一小份，再按要放的格子。",
        "First choose a piece above, then the cell for it.",
    ),
    "puzzle_begin_forward": (
        "第 1 格填好了。每块显卡都要算 1 到 {pieces}：前一块算完一小份，后一块才能算它。选一小份，再按格子。",
        "The first cell is given. Every GPU computes 1 to {pieces}, each piece after the GPU before it. Choose a piece, then a cell.",
    ),
    "puzzle_begin_uncut": (
        "不切：一块显卡把一大批算完，才传给下一块，一共 {whole} 格。数一数这张时间表。",
        "Uncut: a GPU computes the whole batch, then hands it on; {whole} slots in all. Count the cells of this grid.",
    ),
    "puzzle_begin_gpipe": (
        "第 1 格填好了。GPipe：{pieces} 小份都往前算完（F，1 格），再从最后一小份开始往回改（B，2 格）。",
        "The first cell is given. GPipe: all {pieces} pieces forward (F, 1 slot), then back from the last one (B, 2 slots).",
    ),
    "puzzle_begin_free": (
        "怎么排都行，只要做得下去：F 往前算，1 格；B 往回改，2 格。越早做完越好，已知最好的是 {best} 格。",
        "Any order that can run: F forward takes 1 slot, B back takes 2. The sooner all is done the better; the best known is {best} slots.",
    ),
    "puzzle_begin_split": (
        "B 可以拆成 I 和 W，各 1 格：前一块显卡只等 I，W 什么时候做都行。已知最好的是 {best} 格。",
        "B may be split into I and W, 1 slot each: the GPU before waits only for I, W can come later. The best known is {best} slots.",
    ),
    "puzzle_left": ("对。还差 {count} 格活。", "Right. {count} to go."),
    "puzzle_still": ("还差 {count} 格活。", "{count} to go."),
    "puzzle_now_count": (
        "都填对了！再数一数：到做完为止，一共几格？几格在干活？几格闲着？",
        "All filled in! Now count, up to the end: how many cells in all, how many busy, how many idle?",
    ),
    "puzzle_ask_cells": ("一共几格", "Cells in all"),
    "puzzle_ask_busy": ("在干活的", "busy"),
    "puzzle_ask_idle": ("闲着的", "idle"),
    "puzzle_count_on": ("对。接着数。", "Right. Go on counting."),
    "puzzle_count_still": ("接着数。", "Go on counting."),
    "puzzle_one_row": (
        "{count} 是一行的格数，可是有 {rows} 行。",
        "{count} is one row's number, but there are {rows} rows.",
    ),
    "puzzle_counted_busy": ("{count} 是在干活的格数。", "{count} is how many are busy."),
    "puzzle_counted_idle": ("{count} 是闲着的格数。", "{count} is how many are idle."),
    "puzzle_miscounted": ("不是 {count} 格，再数一遍。", "Not {count}: count once more."),
    "puzzle_stars": ("{stars} 完成！", "{stars} Done!"),
    "puzzle_end_uncut": (
        "{cells} 格里只有 {busy_cells} 格在干活，{idle} 格闲着：买了 {total} 块显卡，大约用了 {busy_gpus} 块，{percent}% 的时间闲着。",
        "Only {busy_cells} of {cells} cells are busy, {idle} are idle: {total} GPUs bought, about {busy_gpus} used, idle {percent}% of the time.",
    ),
    "puzzle_end_forward": (
        "{cells} 格里 {busy} 格在干活，{idle} 格闲着：开头 {before} 格在等第 1 小份，结尾 {after} 格没活了。",
        "{busy} of {cells} cells are busy, {idle} are idle: {before} at the start, waiting for piece 1, and {after} at the end, with no work left.",
    ),
    "puzzle_end": (
        "用了 {slots} 格，已知最好的是 {best} 格。每块显卡的草稿最多留 {kept} 份。",
        "{slots} slots; the best known is {best}. Most pieces kept on each GPU: {kept}.",
    ),
}
