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
    "laundry_behind": ("（等着：{baskets}）", " (next: {baskets})"),
    "laundry_comma": ("，", ", "),
    "laundry_idle": ("闲着", "idle"),
    "laundry_floor": ("现在：哪台机器在做哪一篮", "Now: which machine works on which basket"),
    "laundry_grid": (
        "时间表：一行一台机器，一格 30 分钟",
        "Timetable: a row a machine, a slot is 30 minutes",
    ),
    "laundry_cell": ("{machine}，第 {slot} 格：{what}", "{machine}, slot {slot}: {what}"),
    "laundry_tally": ("干活 {busy} 格，闲着 {idle} 格", "busy {busy}, idle {idle}"),
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
        "先猜：流水线上，洗衣机洗完一篮，马上洗下一篮。都做完要几分钟？",
        "Guess first: on the line the washer takes the next basket at once. How many minutes in all?",
    ),
    "laundry_guess": ("几分钟", "How many minutes"),
    "laundry_locked": ("先猜一猜，再看流水线。", "Guess first; then look at the line."),
    "laundry_kept": (
        "猜的记下了：{guess} 分钟。答案先留着，学完“切成小份”再来看。",
        "Your guess is noted: {guess} minutes. The answer waits until the lesson has cut a batch into pieces.",
    ),
    "laundry_kept_unguessed": (
        "答案先留着，学完“切成小份”再来看。",
        "The answer waits until the lesson has cut a batch into pieces.",
    ),
}
