"""The exercises' part of the table of words (`i18n`): problems, hints, why an answer is right; (Chinese, English)."""

from __future__ import annotations

Both = tuple[str, str]


def exercise(
    key: str, title: Both, problem: Both, hint_1: Both, hint_2: Both, hint_3: Both, right: Both
) -> dict[str, Both]:
    """The words of one exercise under their names."""
    parts = {"title": title, "problem": problem, "right": right}
    parts |= {"hint_1": hint_1, "hint_2": hint_2, "hint_3": hint_3}
    return {f"exercise_{key}_{part}": words for part, words in parts.items()}


WORDS: dict[str, Both] = {
    "exercise_hint": ("提示 {number}", "Hint {number}"),
    "exercise_solution": ("看答案（先自己试试）", "Solution (try first)"),
    "exercise_unknown": (
        "没有叫 {asked} 的练习；有这些：{known}",
        "no exercise called {asked}; there are {known}",
    ),
    "exercise_grid": (
        "{gpus} 块显卡的时间表：一行一块显卡，一列一格",
        "grid of {gpus} GPUs: a row a GPU, a column a slot",
    ),
    "exercise_layer": ("第几层", "Layer"),
    "exercise_time": ("要几格", "Slots"),
    "exercise_bars": ("{count} 层，每层要几格", "{count} layers and the slots each takes"),
    "exercise_models": ("6 个模型，只有中间一层不同", "6 models that differ in their middle layer"),
    "exercise_step": ("第几步", "Step"),
    "exercise_chain": ("草稿游戏的 9 步，从 2 开始", "The 9 steps of the scratch-paper game, from 2"),
}

WORDS |= exercise(
    "count_cells",
    ("数一数格子", "Count the cells"),
    (
        "一大批不切，4 块显卡跑接力：每块往前算要 4 格，做完才交给下一块。\n"
        "时间表一共有多少个小格？干活的有几个？闲着的有几个？填三个数：[一共, 干活, 闲着]。",
        "The mini-batch stays in one piece and 4 GPUs run a relay race: each needs 4 slots forward and hands over when it is done.\n"
        "How many cells has the grid? How many are busy, how many idle? Three numbers: [all, busy, idle].",
    ),
    (
        "先看一行：一块显卡有几个小格？几个在干活？",
        "Look at one row: how many cells has one GPU, and how many are busy?",
    ),
    ("一行 16 格，一共 4 行。", "16 cells in a row, 4 rows."),
    ("干活的：4 块显卡，每块 4 格。其余都闲着。", "Busy: 4 GPUs, 4 cells each. The rest is idle."),
    (
        "一共 4 × 16 = 64 格，干活 4 × 4 = 16 格，闲着 48 格。买了 4 块，只顶 1 块用。",
        "4 x 16 = 64 cells, 4 x 4 = 16 busy, 48 idle. Four bought, about one used.",
    ),
)
WORDS |= exercise(
    "cut_layers",
    ("40 层切给 4 块显卡", "Cut 40 layers over 4 GPUs"),
    (
        "模型有 40 层，平均切给 4 块显卡，每块拿挨着的一段。每块从第几层到第几层？\n"
        "层从 1 数起。每块写一对：(头一层, 最后一层)。",
        "A model has 40 layers. Cut them evenly over 4 GPUs, neighbours together. From which layer to which has each GPU?\n"
        "Count layers from 1. A pair for each GPU: (first layer, last layer).",
    ),
    ("40 层分给 4 块，每块几层？", "40 layers for 4 GPUs: how many each?"),
    (
        "每块 10 层。第 1 块从第 1 层开始，到第几层？",
        "10 each. GPU 1 begins with layer 1; where does it end?",
    ),
    (
        "第 1 块到第 10 层，第 2 块就从第 11 层开始。",
        "GPU 1 ends with layer 10, so GPU 2 begins with layer 11.",
    ),
    (
        "每块 10 层，接着往下数，一层不漏，也不重复。",
        "10 layers each, one after the other: none left out, none twice.",
    ),
)
WORDS |= exercise(
    "fill_grid",
    ("填时间表", "Fill the grid"),
    (
        "一大批切成 4 小份，4 块显卡，只看往前算，每份在每块显卡上要 1 格。第 1 格已经填好。\n"
        "把 4 行 7 列填满：写小份的编号，闲着写一个点。每个 ... 换成一个数或一个点。",
        "The mini-batch is cut into 4 pieces for 4 GPUs; forward only, a piece takes 1 slot on each GPU. The first cell is given.\n"
        "Fill 4 rows of 7: the piece's number, or a dot where the GPU is idle. Put a number or a dot for each ...",
    ),
    (
        "第 2 块显卡第 1 格能做什么？手里有活吗？",
        "What can GPU 2 do in slot 1? Is there anything to work on?",
    ),
    (
        "小份 1 在第 1 格算完第 1 段，第 2 格才到第 2 块显卡。",
        "Piece 1 leaves GPU 1 after slot 1, so GPU 2 gets it in slot 2.",
    ),
    ("每往下一行，1 2 3 4 就往右挪一格。", "Each row is the one above, moved one slot to the right."),
    (
        "每块显卡比上一块晚一格开工：开头等活 6 格，结尾没活 6 格。",
        "Each GPU starts one slot after the one before: 6 idle cells at the start, 6 at the end.",
    ),
)
WORDS |= exercise(
    "predict_bubble",
    ("算气泡", "Predict the bubble"),
    (
        "4 块显卡，每段一样重。一大批切成 1、4、8、16 小份时，闲着的时间各占百分之几？\n"
        "填四个百分数，四舍五入到整数就行。",
        "4 GPUs, equal stages. What share of the time is idle with 1, 4, 8 and 16 pieces?\n"
        "Four numbers in percent; whole numbers will do.",
    ),
    (
        "先数 M = 4：4 行几列？几格闲着？",
        "Count M = 4 first: 4 rows of how many columns, how many cells idle?",
    ),
    ("只看一行：M 格干活，再加 3 格闲着。", "One row: M slots of work and 3 idle ones."),
    ("气泡 = 3 / (M + 3)。", "Bubble = 3 / (M + 3)."),
    (
        "每行有 M + 3 格，闲着的总是 3 格：3/4、3/7、3/11、3/19，也就是 75%、43%、27%、16%。",
        "Each row has M + 3 slots, always 3 of them idle: 3/4, 3/7, 3/11, 3/19, which is 75, 43, 27 and 16 %.",
    ),
)
WORDS |= exercise(
    "card_times",
    ("卡片游戏的时间", "Times of the card game"),
    (
        "12 张卡片，A、B、C 三个人，每人每张 1 拍。三种做法：12 张一起传；每次传 4 张；一张一张传。\n"
        "每种做法写一对：(C 什么时候拿到第一张, 什么时候全部做完)，从 0 拍数起。",
        "12 cards, three people A, B, C, one beat a card each. Three ways: hand on all 12 at once; 4 at a time; one by one.\n"
        "A pair for each way: (when C gets the first cards, when all is done), counted from beat 0.",
    ),
    ("12 张一起传：A 做完 12 张要 12 拍，B 才能开始。", "All at once: A needs 12 beats, only then B begins."),
    (
        "每次传 4 张：A 做 4 拍就交给 B；B 再做 4 拍，C 就拿到了。",
        "4 at a time: A hands on after 4 beats, B after 4 more, and C has them.",
    ),
    (
        "全部做完 = C 拿到第一张的时间 + C 做 12 张的 12 拍。",
        "All done = when C gets the first cards + 12 beats for C's 12 cards.",
    ),
    (
        "C 在第 24、8、2 拍拿到第一张；再做 12 张，第 36、20、14 拍全部做完。",
        "C gets the first cards at 24, 8 and 2; 12 cards later, at 36, 20 and 14, all is done.",
    ),
)
WORDS |= exercise(
    "balance_stages",
    ("每段一样重", "Equal weight"),
    (
        "12 层，每层要的格数不一样（见图）。切成 4 段，每段是挨着的几层，让最重的一段尽量轻。\n"
        "写每段几层，例如 [3, 3, 3, 3]。",
        "12 layers that take different times (see the picture). Cut them into 4 stages of neighbours so that the heaviest stage is as light as can be.\n"
        "Write how many layers each stage has, for example [3, 3, 3, 3].",
    ),
    ("一共 28 格，4 段，平均每段几格？", "28 slots in all, 4 stages: how many each on average?"),
    (
        "两层 4 格放在一起就是 8 格。有没有办法让每段都不超过 8 格？",
        "Two layers of 4 make 8. Can every stage stay at 8 or less?",
    ),
    (
        "最后四层两两一段，前面八层再切成两段，每段不超过 8 格。",
        "Put the last four layers in two pairs; cut the eight before them in two, neither above 8.",
    ),
    (
        "最重的一段是 8 格，不能再轻了。按层数平均切的话，最重的一段要 12 格，大家都得等它。",
        "The heaviest stage takes 8 slots, and it can't be less. With 3 layers each it would take 12, and all would wait for it.",
    ),
)
WORDS |= exercise(
    "batch_norm",
    ("谁会改变结果？", "Who changes the result?"),
    (
        "下面 6 个模型都在训练，只有中间一层不同；E 是冻住的（eval），F 不记平均数。\n"
        '同一批数据切成 4 小份，哪些模型的梯度（每个旋钮要改的量）会和不切时不一样？写它们的字母，例如 "AB"。',
        "All 6 models are in training and differ in their middle layer; E is frozen (eval), F keeps no running averages.\n"
        'Cut the same batch into 4 pieces: which models get other gradients than uncut? Write their letters, such as "AB".',
    ),
    (
        "算一个样本（一道练习题）时，这一层要不要看别的样本？",
        "Working on one sample, does the layer look at other samples?",
    ),
    (
        "LayerNorm 和 GroupNorm 只看一个样本自己的数。BatchNorm 呢？",
        "LayerNorm and GroupNorm look at one sample's own numbers. And BatchNorm?",
    ),
    (
        "BatchNorm 训练时用这一份样本的平均数；冻住以后只用记下来的平均数。",
        "In training BatchNorm uses the averages of the samples it sees now; frozen, it uses those it has kept.",
    ),
    (
        "只有用“这一小份”的平均数的层会变：C 和 F。E 冻住了，用的是记下来的平均数。这里是真的训练比出来的。",
        "Only layers that use the averages of the piece they see change: C and F. E is frozen and uses what it kept. This was compared in real training.",
    ),
)
WORDS |= exercise(
    "three_cells",
    ("三格草稿，最少算几次？", "Three cells: how few steps?"),
    (
        "从 2 开始的 9 步。A 一步一步往前算；算完第 9 步，B 倒着问：第 8 步是多少？第 7 步呢？……一直问到第 1 步。\n"
        "A 脑子里只记得刚算出的那一步，草稿纸只有 3 格。写出 A 依次算第几步，写进格子的加一个星号：1 2 3* 4 …… 用不着的格子会自动擦掉。一共最少算几次？",
        "9 steps from the start 2. A computes them one by one; after step 9, B asks backward: what was step 8? Step 7? ... down to step 1.\n"
        "A remembers only the step just computed, and has 3 cells of scratch paper. Write the steps in the order in which A computes them, a star where one is written down: 1 2 3* 4 ... Cells that are of no more use are wiped. How few steps can it be?",
    ),
    (
        "先记第 3 步和第 6 步，试着回答所有问题。要算几次？",
        "Keep steps 3 and 6 first and answer all questions. How many steps is that?",
    ),
    (
        "那样是 15 次。走第一遍时，第 3 格是不是空着？",
        "That's 15. Isn't the third cell empty all along the first way?",
    ),
    (
        "第一遍就把第 7 步也记下来。后来空出的格子，也马上用上。",
        "Write step 7 down on the first way, too; and use each cell again as soon as it is free.",
    ),
    (
        "最少 14 次：第一遍 9 次，再补第 8 步、第 4、5 步、第 1、2 步。",
        "14 is the fewest: 9 on the first way, then step 8, steps 4 and 5, steps 1 and 2 again.",
    ),
)
