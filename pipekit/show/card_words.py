"""The card game's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- the game
    "cards_title": ("传卡片", "The cards"),
    "cards_tab_ways": ("三种方法", "Three ways"),
    "cards_tab_grid": ("填格子", "Fill the grid"),
    "cards_tab_groups": ("各组的秒表", "Groups' times"),
    "cards_people": ("人数", "People"),
    "cards_seconds": ("每张几秒", "s a card"),
    "cards_seconds_of": ("{person} 每张几秒", "seconds a card of {person}"),
    "cards_handover": ("交接几秒", "hand-over"),
    "cards_middle": ("方法 2 切几份", "Way 2 pieces"),
    "cards_grid_pieces": ("切成几份", "Pieces"),
    "cards_show_best": ("几份最快", "Best?"),
    # -- the three ways
    "cards_ways_name": ("三种方法的时间表：一行一个人", "Timetables of the three ways: a row a person"),
    "cards_way": ("方法 {number}", "Way {number}"),
    "cards_at_once": ("：12 张一起传", ": all at once"),
    "cards_pieces": ("：切成 {pieces} 份", ": {pieces} pieces"),
    "cards_one_by_one": ("：一张一张传", ": one by one"),
    "cards_each": ("每份 {count} 张", "{count} a piece"),
    "cards_each_uneven": ("每份 {count} 或 {more} 张", "{count} or {more} a piece"),
    "cards_first": ("{last} 第 {seconds} 秒拿到第一张", "{last} gets its first at {seconds} s"),
    "cards_done": ("第 {seconds} 秒全部做完", "all done at {seconds} s"),
    "cards_you_guessed": ("（你们猜 {seconds}）", " (guess: {seconds})"),
    "cards_idle": ("闲着 {percent}%", "idle {percent}%"),
    "cards_piece": ("第 {piece} 份", "piece {piece}"),
    "cards_rests": ("闲着", "idle"),
    "cards_span": ("{person}：{what}，第 {start} 到 {end} 秒", "{person}: {what}, {start} to {end} s"),
    "cards_ask": (
        "先猜：12 张卡片，三种方法各要几秒全部做完？",
        "Guess first: after how many seconds are 12 cards done?",
    ),
    "cards_ask_way": ("方法 {number}", "Way {number}"),
    "cards_guess_first": (
        "每人做完手里的一份，马上交给下一个人。先猜，再看时间表。",
        "Who has finished a piece passes it on at once. Guess first, then look at the timetables.",
    ),
    "cards_guess_nothing": ("至少猜一种方法，或者按“不猜”。", "Guess at least one way, or press No guess."),
    "cards_what_first_means": (
        "“拿到第一张”是前面的人第一次把卡片交到 {last} 手里；“全部做完”是 {last} 做完最后一张。",
        "{last} gets its first when the others pass the first piece on; all is done when {last} has finished the last card.",
    ),
    "cards_slow": (
        "{person} 最慢，大家都要等 {person}：切得再细，也快不过 {person} 一个人做 12 张的时间。",
        "{person} is the slowest and all wait for {person}: however finely you cut, it can't be quicker than {person} doing all "
        "12 cards alone.",
    ),
    "cards_best": (
        "交接一次 {handover} 秒，切成 {best} 份最快：{seconds} 秒。{pairs}。太细了，时间都花在交接上。",
        "With {handover} s a hand-over, {best} pieces are best: {seconds} s. {pairs}. Cut too finely, hand-overs eat the time.",
    ),
    "cards_best_free": (
        "交接不花时间，切成 {best} 份最快：{seconds} 秒。{pairs}。",
        "With hand-overs for free, {best} pieces are best: {seconds} s. {pairs}.",
    ),
    "cards_pair": ("{pieces} 份 {seconds} 秒", "{pieces}: {seconds} s"),
    "cards_comma": ("，", ", "),
    "cards_or": (" 或 ", " or "),
    # -- the grid, cell by cell
    "grid_name": ("填时间表：一行一个人，一列一格", "Fill in the timetable: a row a person, a column a slot"),
    "grid_slots": ("第几格", "Slot"),
    "grid_take": ("拿一个：", "Take one:"),
    "grid_chip_idle": ("闲着", "idle"),
    "grid_cell": ("{person}，第 {slot} 格：{entry}", "{person}, slot {slot}: {entry}"),
    "grid_empty": ("还没填", "empty"),
    "grid_begin": (
        "第一格填好了：A 做第 1 份。先按格子下面的一个数，再按要填的格子；· 表示闲着。",
        "The first cell is given: A has piece 1. Press a number under the grid, then the cell it belongs to; · means idle.",
    ),
    "grid_take_first": (
        "先按格子下面的一个数，再按要填的格子。",
        "First press a number under the grid, then the cell it belongs to.",
    ),
    "grid_given": ("这一格本来就填好了，不用改。", "This cell is given: leave it."),
    "grid_fill": ("帮我填一格", "Fill one for me"),
    "grid_finished": (
        "全对！一共 {cells} 格：{busy} 格在干活，{idle} 格闲着（{percent}%），开头和结尾各一半。",
        "All right! {cells} cells: {busy} busy, {idle} idle ({percent}%), half at the start and half at the end.",
    ),
    "grid_right": (
        "对：{before} 上一格做完了第 {piece} 份，{person} 正好接着做。",
        "Right: {before} finished piece {piece} a slot earlier, so {person} has it now.",
    ),
    "grid_right_first": (
        "对：卡片都在 {person} 手边，一份接一份。",
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
        "不对：卡片都在 {person} 手边，这一格做第 {piece} 份，不用等谁。",
        "No: the cards lie with {person}, who does piece {piece} here and waits for nobody.",
    ),
    # -- the groups' times
    "times_name": ("各组的秒表时间，单位是秒", "The groups' stopwatch times, in seconds"),
    "times_group": ("第 {group} 组", "Group {group}"),
    "times_at_once": ("方法 1：一起", "1: at once"),
    "times_pieces": ("方法 2：3 份", "2: 3 pieces"),
    "times_one_by_one": ("方法 3：单张", "3: singly"),
    "times_first": ("C 拿到", "C gets"),
    "times_done": ("做完", "done"),
    "times_first_long": ("“C 拿到第一张”的时间", ", when C got its first"),
    "times_done_long": ("“全部做完”的时间", ", when all was done"),
    "times_earlier": ("第 {first} 到 {last} 组", "Groups {first} to {last}"),
    "times_later": ("第 {first} 到 {last} 组", "Groups {first} to {last}"),
    "times_begin": (
        "第 {group} 组：填了 {found} 个时间。至少填两种方法、3 个时间，就能算出这一组自己的速度。",
        "Group {group}: {found} times so far. From 3 times of two ways on, the group's own speeds can be worked out.",
    ),
    "fit_speeds": (
        "第 {group} 组自己的速度：A、B 平均每张 {others} 秒，C 每张 {last} 秒，交接一次 {handover} 秒。",
        "Group {group}'s own speeds: A and B {others} s a card on average, C {last} s, a hand-over {handover} s. ",
    ),
    "fit_apart": (
        "第 {group} 组：看起来 A、B 里有一个慢，每张 {slow} 秒，另一个 {rest} 秒；C 每张 {last} 秒，交接一次 {handover} 秒。",
        "Group {group}: it seems that one of A and B is slow, {slow} s a card, the other {rest} s; C {last} s, a hand-over {handover} s. ",
    ),
    "fit_good": (
        "这些时间都对得上，最多差 {seconds} 秒。",
        "All times fit these, to within {seconds} s.",
    ),
    "fit_longer": (
        "{clock}比按这个速度算的多 {seconds} 秒。",
        "{clock}, took {seconds} s longer than these speeds say.",
    ),
    "fit_shorter": (
        "{clock}比按这个速度算的少 {seconds} 秒。",
        "{clock}, took {seconds} s less than these speeds say.",
    ),
    "fit_chart": ("第 {group} 组：切成几份，用几秒", "Group {group}: seconds for each number of pieces"),
    "fit_chart_x": ("切成几份", "pieces"),
    "fit_chart_y": ("秒", "seconds"),
    "fit_chart_done": ("全部做完：按自己的速度算的", "all done: what its own speeds say"),
    "fit_chart_first": ("C 拿到第一张：按自己的速度算的", "C gets its first: what its own speeds say"),
    "fit_chart_own": ("这一组的秒表", "this group's stopwatch"),
    "fit_chart_rest": ("别的组的秒表", "other groups' stopwatches"),
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
