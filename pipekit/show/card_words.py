"""The card game's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- the grid, cell by cell
    "grid_right": (
        "对：{before} 上一格做完了第 {piece} 份，{person} 正好接着做。",
        "Right: {before} finished piece {piece} a slot earlier, so {person} has it now.",
    ),
    "grid_right_first": (
        "对：牌都在 {person} 手边，一份接一份。",
        "Right: the cards lie with {person}, who takes one piece after the other.",
    ),
    "grid_right_waits": (
        "对：{before} 还没有交出第一份，{person} 只能等。",
        "Right: {before} hasn't passed the first piece on, so {person} can only wait.",
    ),
    "grid_right_over": ("对：{person} 的活都做完了。", "Right: {person} has no piece left."),
    "grid_not_there": (
        "不对：第 {piece} 份要到第 {end} 格，{before} 才做完；{person} 最早第 {slot} 格能拿到。",
        "No: {before} finishes piece {piece} in slot {end}; {person} can have it in slot {slot} at the earliest.",
    ),
    "grid_in_turn": (
        "不对：这一格 {person} 要做第 {earlier} 份；第 {piece} 份排在第 {slot} 格。",
        "No: in this slot {person} works on piece {earlier}; piece {piece} comes in slot {slot}.",
    ),
    "grid_done_before": (
        "不对：第 {piece} 份，{person} 在第 {slot} 格就能做，不用拖到这里。",
        "No: {person} can do piece {piece} in slot {slot} already; it needn't wait until here.",
    ),
    "grid_is_there": (
        "不对：{before} 已经把第 {piece} 份交过来了，{person} 不用闲着。",
        "No: {before} has passed piece {piece} on, so {person} needn't be idle.",
    ),
    "grid_never_waits": (
        "不对：牌都在 {person} 手边，这一格做第 {piece} 份，不用等谁。",
        "No: the cards lie with {person}, who does piece {piece} here and waits for nobody.",
    ),
    # -- the groups' times
    "times_number": (
        "看不懂 {asked}：请写秒数，例如 84，或者 1:24。",
        "Can't read {asked}: write seconds, such as 84, or 1:24.",
    ),
    "times_range": (
        "{asked} 秒不对：要大于 0，不超过 {most}。",
        "{asked} s can't be: it must be more than 0 and at most {most}.",
    ),
    "times_order": (
        "方法 {way}：{done} 秒全部做完，可是 {first} 秒 C 才拿到第一张；先后反了。",
        "Way {way}: all done after {done} s, but C got the first card after {first} s: they are the wrong way round.",
    ),
    "times_few": (
        "只有 {found} 个时间，至少要 {least} 个才算得出速度。",
        "There are {found} times; it takes at least {least} to work out the speeds.",
    ),
    "times_alike": (
        "这几个时间定不出速度：请再填另一种方法的时间。",
        "These times don't settle the speeds: add a time of another way.",
    ),
}
