"""The lesson's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "lesson_title": ("一节课，五站", "One lesson, five stops"),
    "lesson_minutes": ("{count} 分钟", "{count} min"),
    # -- the stops
    "lesson_laundry": ("洗衣服", "Laundry"),
    "lesson_laundry_question": (
        "4 篮衣服，洗、烘、叠各要 30 分钟。最快多久能全做完？先猜，答案留到第 4 站。",
        "4 baskets; washing, drying and folding take 30 minutes each. How soon can all be done? Guess: stop 4 has the answer.",
    ),
    "lesson_cards": ("传卡片", "Cards"),
    "lesson_cards_question": (
        "12 张卡片，3 个人接着做。一次传几张，全部做完最快？",
        "12 cards, 3 people in a row. How many cards to hand over at a time, to be done first?",
    ),
    "lesson_grids": ("两张时间表", "Two grids"),
    "lesson_grids_question": (
        "4 块显卡：一大批不切要 16 格。切成 4 小份，几格能做完？闲着的时间占几成？",
        "4 GPUs: uncut, the batch takes 16 slots. In 4 pieces, how many? And how much of the time are they idle?",
    ),
    "lesson_pieces": ("切得更细", "More pieces"),
    "lesson_pieces_question": (
        "切成 8 小份、16 小份，闲着的时间还会变少吗？会变成 0 吗？",
        "In 8 pieces, in 16: will there be less idle time still? Will there be none?",
    ),
    "lesson_erase": ("擦掉重算", "Erase and redo"),
    "lesson_erase_question": (
        "草稿只留几处，别的要用时再算。要多算几次？省下多少地方？",
        "Keep only a few results and redo the rest. How many more steps does it take, how much room does it save?",
    ),
    # -- the stopwatch
    "lesson_watch": ("秒表", "Stopwatch"),
    "lesson_start": ("开始", "Start"),
    "lesson_start_why": ("秒表开始走", "Start the stopwatch"),
    "lesson_stop": ("停", "Stop"),
    "lesson_stop_why": ("秒表停下", "Stop the stopwatch"),
    "lesson_lap": ("记一次", "Lap"),
    "lesson_lap_why": ("记下现在的时间，秒表接着走", "Write down the time; the stopwatch runs on"),
    "lesson_lap_said": ("第 {number} 次 {time}", "{number}: {time}"),
    "lesson_reset": ("清零", "Reset"),
    "lesson_reset_why": ("秒表回到 0", "Set the stopwatch back to 0"),
    "lesson_large": ("放大", "Large"),
    "lesson_small": ("缩小", "Small"),
    "lesson_large_why": ("秒表占满整页，或者变回来", "Fill the page with the stopwatch, or go back"),
    "lesson_wide": ("满屏", "Full"),
    "lesson_narrow": ("退出", "Exit"),
    "lesson_wide_why": ("这一课占满整个窗口，或者回到笔记本", "Fill the window, or go back to the notebook"),
    # -- what really trains
    "lesson_run": (
        "{count} 种都真的跑一遍（约 {seconds} 秒）",
        "Really run all {count} (about {seconds} s)",
    ),
    "lesson_running": ("正在跑第 {number} 种（共 {total} 种）……", "Running {number} of {total} …"),
    "lesson_pieces_guess": (
        "先猜：4 块显卡有百分之几的时间闲着？",
        "Guess first: percent of the time that 4 GPUs idle?",
    ),
    "lesson_pieces_head": ("切成几小份", "Pieces"),
    "lesson_pieces_field": ("{count} 份", "{count}:"),
    "lesson_pieces_busy": ("相当于几块在干活", "busy GPUs"),
    "lesson_laundry_answer": ("现在说洗衣服的答案", "Now the laundry's answer"),
    "lesson_laundry_said": (
        "一篮做完再做下一篮：{in_turn} 分钟。流水线：({baskets}+{machines}-1)×{minutes} = {pipelined} 分钟。"
        "一篮衣服就是一小份，一台机器就是一块显卡。",
        "One basket after another: {in_turn} minutes. As a production line: ({baskets}+{machines}-1)×{minutes} = "
        "{pipelined} minutes. A basket is a piece, a machine is a GPU.",
    ),
    "lesson_erase_game": ("草稿纸游戏", "Scratch-paper game"),
    "lesson_erase_run": ("真的跑一遍", "The real thing"),
    "lesson_erase_guess": (
        "先猜：草稿都擦掉重算，和都留着比，",
        "Guess first: erase all instead of keep all:",
    ),
    "lesson_erase_less": ("草稿少百分之几？", "less paper, %:"),
    "lesson_erase_longer": ("时间多百分之几？", "more time, %:"),
    "lesson_erase_kept": ("草稿最多", "Scratch paper at most"),
    "lesson_erase_less_row": ("草稿变化", "change"),
    "lesson_erase_slots": ("用了几格", "Slots"),
    "lesson_erase_longer_row": ("时间变化", "change"),
    "lesson_erase_never": ("草稿都留着", "All scratch paper kept"),
    "lesson_erase_always": ("都擦掉，往回改之前重算（R）", "All erased, redone (R) before going back"),
}
