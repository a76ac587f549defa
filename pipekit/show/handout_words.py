"""The printed sheets' part of the table of words (`i18n`): (Chinese, English). Numbers come from plan and the games."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- shared
    "paper_group": ("第 ____ 组", "Group ____"),
    "paper_key": ("答案：{title}", "Key: {title}"),
    "paper_whole": ("全", "all"),
    "paper_person_a": ("A 洗", "A wash"),
    "paper_person_b": ("B 烘", "B dry"),
    "paper_person_c": ("C 叠", "C fold"),
    # -- the grids
    "paper_grids": ("填时间表：4 块显卡怎么排活？", "Fill in: what do 4 GPUs do when?"),
    "paper_grids_intro": (
        "模型切成 {devices} 段，每块显卡管一段。一大批练习题要依次走过显卡 1 到显卡 {devices}。一行是一块显卡，一列是一格时间。"
        "第一格已经填好；闲着的格子空着不填。",
        "The model is cut in {devices} stages, one for each GPU. The batch goes through GPU 1 to GPU {devices} in turn. "
        "A row is a GPU, a column a slot of time. The first cell is given; leave idle cells empty.",
    ),
    "paper_relay": (
        "1. 接力赛：一大批不切。每块显卡要算 {slots} 格，前一块全部算完，后一块才能开始。在干活的格子里写“{whole}”。",
        "1. Relay race: the batch stays whole. Each GPU needs {slots} slots, and a GPU can begin only when the one before "
        'is done. Write "{whole}" where a GPU works.',
    ),
    "paper_relay_blanks": (
        "一共 {cells} 格，干活 {busy} 格，闲着 {idle} 格，闲着的占 {percent}%。同一时刻有 {at_once} 块显卡在干活。",
        "{cells} cells in all, {busy} busy, {idle} idle: {percent}% idle. GPUs that work at the same time: {at_once}.",
    ),
    "paper_line": (
        "2. 流水线：同一大批切成 {pieces} 小份，每小份在一块显卡上只要 1 格。在格子里写第几小份。",
        "2. Production line: the same batch in {pieces} pieces. A piece takes a GPU 1 slot. Write the piece's number.",
    ),
    "paper_line_blanks": (
        "用了 {slots} 格，比不切少用 {fewer} 格。一共 {cells} 格，闲着 {idle} 格：开头等活 {fill} 格，结尾没活 {drain} 格。",
        "It takes {slots} slots, {fewer} fewer than whole. Of {cells} cells {idle} are idle: {fill} at the start, "
        "{drain} at the end.",
    ),
    "paper_bubble_blanks": (
        "闲着的格子叫“气泡”。气泡占 {percent}%，相当于一直有 {busy} 块显卡在干活。",
        "The idle cells are the bubble: {percent}%. It is as if {busy} GPUs worked all the time.",
    ),
    "paper_rule": (
        "3. 找规律：显卡 2 在第 {second} 格做第 1 小份，显卡 4 在第 {fourth} 格做第 3 小份。显卡 k 在第 {rule} 格做第 m 小份。",
        "3. Find the rule: GPU 2 works on piece 1 in slot {second}, GPU 4 on piece 3 in slot {fourth}, "
        "GPU k on piece m in slot {rule}.",
    ),
    "paper_more": (
        "4. 再切细一些：切成 1、4、8、16 小份，气泡各占 {percents}。",
        "4. Finer still: in 1, 4, 8 and 16 pieces the bubble is {percents}.",
    ),
    # -- the cards
    "paper_cards": ("36 张卡片（一组用一张纸，先剪好）", "36 cards (one sheet a group, cut beforehand)"),
    "paper_card_way": ("方法 {way} · 第 {card} 张", "Way {way} · card {card}"),
    "paper_card_circle": ("A 画圈", "A: circle"),
    "paper_card_tick": ("B 打勾", "B: tick"),
    "paper_card_fold": ("C 对折", "C: fold"),
    # -- the roles
    "paper_roles": ("角色卡（剪开，每人一张）", "Roles (cut apart, one each)"),
    "paper_role_a": ("A  洗衣机", "A  The washer"),
    "paper_role_a_does": (
        "在每张卡片左边的虚线圆里画一个圈。一次只画一张。",
        "Draw a circle into the dashed ring on the left of each card. One card at a time.",
    ),
    "paper_role_b": ("B  烘干机", "B  The dryer"),
    "paper_role_b_does": (
        "在每张卡片右边的方框里打一个勾。A 没有画圈的卡片不能打勾。",
        "Tick the box on the right of each card. A card without A's circle can't be ticked.",
    ),
    "paper_role_c": ("C  叠衣服的人", "C  The folder"),
    "paper_role_c_does": (
        "把每张卡片沿虚线对折，放进盒子。没有打勾的卡片不能折。",
        "Fold each card along the dashed line and put it into the box. A card without B's tick can't be folded.",
    ),
    "paper_role_t": ("计时员", "The timekeeper"),
    "paper_role_t_does": (
        "喊“开始”，同时按秒表。C 拿到第一张卡片时记一次，最后一张放进盒子时再记一次，写进记录表。",
        'Say "go" and start the watch. Note when C gets the first card, and when the last card is in the box.',
    ),
    "paper_role_ways": (
        "方法 1：{all_cards} 张全做完，一起交给下一个人。|方法 2：每做完 {pile} 张，交一次。|方法 3：每做完 1 张，马上交。",
        "Way 1: do all {all_cards}, then hand them on together.|Way 2: hand on after every {pile} cards.|"
        "Way 3: hand on each card at once.",
    ),
    "paper_role_fair": (
        "不抢、不停，三轮都用一样的速度。",
        "Don't race and don't stop: keep the same pace in all three rounds.",
    ),
    # -- the record
    "paper_record": ("记录表：卡片游戏", "Record: the card game"),
    "paper_record_head": (
        "做法|先猜：全部做完要几秒|C 拿到第一张（秒）|全部做完（秒）|谁等得最久？",
        "Way|Guess: all done after (s)|C gets the first card (s)|All done (s)|Who waited most?",
    ),
    "paper_record_ways": (
        "方法 1：{all_cards} 张一起交|方法 2：每 {pile} 张交一次|方法 3：一张一张交",
        "Way 1: all {all_cards} at once|Way 2: {pile} at a time|Way 3: one by one",
    ),
    "paper_record_grid": (
        "方法 2 画成时间表：{pile} 张是一小份，一小份用一格。第一格已经填好，把其余的填完；等着的格子空着。",
        "Way 2 as a grid: {pile} cards are one piece, and a piece takes one slot. The first cell is given. Fill in the "
        "rest; leave a cell empty where somebody waits.",
    ),
    "paper_record_blanks": (
        "一共 {cells} 格，干活 {busy} 格，等着 {idle} 格。",
        "{cells} cells in all, {busy} busy, {idle} waiting.",
    ),
    "paper_record_think": (
        "想一想：|1. 哪一种方法先做完？为什么？|2. 方法 3 里，交卡片本身也要花时间。如果交一次要很久，切得越细越好吗？"
        "|3. 如果 B 特别慢，另外两个人怎么办？|4. 卡片换成练习题，A、B、C 换成什么？",
        "Think:|1. Which way is done first, and why?|2. In way 3, handing on takes time too. If it takes long, is finer "
        "still better?|3. If B is very slow, what happens to the other two?|4. If the cards are samples, what are A, B, C?",
    ),
    # -- scratch paper
    "paper_scratch": (
        "草稿纸游戏（A 的纸）",
        "Scratch paper (A's sheet)",
    ),
    "paper_scratch_rules": (
        "两个人玩。A 从左往右一步一步地算，B 再从后往前问：“第 8 步是几？第 7 步是几？……第 1 步是几？”|"
        "A 只能看草稿格里写着的数和印好的起点；别的数忘掉了，要用就从最近的一个数重新算。|"
        "每算一步，就在“算了几次”后面画一笔，重新算的也要画。",
        'For two. A computes step by step from left to right. Then B asks backward: "What was step 8? Step 7? … Step 1?"|'
        "A may look only at what is written in the cells and at the printed start. Everything else is forgotten: compute "
        "it again from the nearest number that is there.|Make a mark for every step computed, the repeated ones too.",
    ),
    "paper_scratch_start": ("起点", "start"),
    "paper_scratch_step": ("第 {number} 步", "step {number}"),
    "paper_scratch_round": (
        "第 {number} 轮：{cells} 个草稿格",
        "Round {number}: {cells} cells",
    ),
    "paper_scratch_round_none": ("第 {number} 轮：没有草稿格", "Round {number}: no cells"),
    "paper_scratch_tally": ("算了几次（画正字）：", "Steps computed (tally):"),
    "paper_scratch_total": ("一共 ____ 次", "____ in all"),
    "paper_scratch_asks": ("草稿纸游戏（B 的纸，A 别看）", "Scratch paper (B's sheet)"),
    "paper_scratch_asks_how": (
        "先自己算一遍，把答案写在“对的”一列，再开始问。A 答对了打勾。",
        'First compute it yourself and write the answers into "right". Then ask; tick what A gets right.',
    ),
    "paper_scratch_asks_head": ("我问|对的|第 1 轮|第 2 轮|第 3 轮", "I ask|right|round 1|round 2|round 3"),
    "paper_scratch_asks_row": ("第 {number} 步是几？", "What was step {number}?"),
    "paper_scratch_think": (
        "想一想：草稿格少了，算的次数多了几成？显卡里的“草稿格”是什么？",
        "Think: with fewer cells, how many more steps? What are the cells in a GPU?",
    ),
    # -- the answers
    "paper_answers": ("答案（给老师）", "Answers (for the teacher)"),
    "paper_answers_laundry": (
        "洗衣服：一篮 {one} 分钟；{baskets} 篮一篮接一篮要 {in_turn} 分钟，流水线只要 ({baskets}+{machines}-1)×{minutes} = "
        "{pipelined} 分钟；一篮接一篮时，每洗一篮，洗衣机要闲 {waits} 分钟。切小份之前先不说。",
        "Laundry: one basket takes {one} minutes; {baskets} baskets one after another {in_turn}, as a line "
        "({baskets}+{machines}-1)×{minutes} = {pipelined}; one after another the washer waits {waits} minutes a basket. "
        "Don't tell before the pieces.",
    ),
    "paper_answers_cards": (
        "卡片：每个人一样快，一张算一拍时",
        "Cards: all equally fast, a card takes one beat",
    ),
    "paper_answers_slow": ("A、B、C 一张各要 {speeds} 秒时", "A, B, C take {speeds} s a card"),
    "paper_answers_head": (
        "做法|C 拿到第一张|全部做完|闲着",
        "Way|C gets the first|all done|idle",
    ),
    "paper_answers_handover": (
        "交一次也要一拍：切成 1、2、3、4、6、12 份，全部做完要 {times} 拍。切成 {best} 份最快，再细，时间就都花在交上了。",
        "If a hand-over takes one beat too: in 1, 2, 3, 4, 6, 12 pieces all is done after {times} beats. Best: {best} "
        "pieces. Finer, and the time goes into handing over.",
    ),
    "paper_answers_values": ("草稿纸游戏各步的数：{values}", "Scratch paper, the values: {values}"),
    "paper_answers_steps": (
        "{steps} 个草稿格算 {all_kept} 次；没有草稿格算 {none_kept} 次；3 个草稿格：记住第 3 步和第 6 步，第三格倒着答时再用，"
        "{lesson} 次；第三格一直空着，{without} 次；第一遍就把第 7 步写进第三格，{best} 次，这是最少的。",
        "With {steps} cells {all_kept} steps; with none {none_kept}. With 3 cells: steps 3 and 6 kept, the third cell used "
        "on the way back, {lesson}; the third cell never used, {without}; step 7 in the third cell on the first way, "
        "{best}, the fewest possible.",
    ),
    "paper_answers_record": (
        "想一想：1. 大家一样快时，方法 3 最先做完，因为后面的人早早就有活干。2. 不一定：交得太勤，时间都花在交上。"
        "3. 最慢的人定快慢：A 做好的只能堆着，C 只能等。4. A、B、C 是显卡，每块管模型的一段。草稿格就是显卡里放草稿的内存。",
        "Think: 1. If all are equally fast, way 3, since those behind have work early. 2. Not always: handing on too often "
        "takes the time. 3. The slowest sets the pace: what A has done piles up, and C waits. 4. A, B, C are GPUs, each "
        "with a stage of the model. The cells are a GPU's memory for activations.",
    ),
    "paper_answers_best": (
        "0 到 {most} 个草稿格，最少各要算：{optima} 次。",
        "With 0 to {most} cells the fewest steps are {optima}.",
    ),
    "paper_answers_think": (
        "训练时也一样：草稿（激活值）放不下，就只留每段开头的，往回改时再算一遍，多用约三分之一的时间，换来放得下更大的网络。",
        "Training does the same: where the activations don't fit, only those that enter a stage are kept and the rest is "
        "redone on the way back. It takes about a third more time and makes room for a larger network.",
    ),
    # -- a lesson without a computer
    "paper_plan": ("不用电脑的一节课（{minutes} 分钟）", "A lesson without a computer ({minutes} minutes)"),
    "paper_plan_needs": (
        "准备：每组 4 人，一套角色卡、36 张卡片（课前剪好，约 10 分钟）、一张记录表、一个盒子、一只秒表（手表也行）；"
        "每人一张时间表；每两人一套草稿纸游戏（两张）。",
        "Bring, for each group of 4: roles, 36 cards (cut beforehand, about 10 minutes), a record, a box and a watch; for "
        "each person the grids; for every two the two scratch-paper sheets.",
    ),
    "paper_plan_head": ("分钟|做什么|老师说什么", "Minutes|What the class does|What the teacher says"),
    "paper_plan_1": (
        "猜：{baskets} 篮衣服，洗、烘、叠各 {minutes} 分钟，最快多久？写在纸上。",
        "Guess: {baskets} baskets, {minutes} minutes each for washing, drying, folding. How soon can all be done?",
    ),
    "paper_plan_1_says": (
        "只收答案，不评对错，讲完小份再说。",
        "Collect guesses, judge none; the answer comes after the pieces.",
    ),
    "paper_plan_2": (
        "卡片游戏三轮：先猜，再做，计时员填记录表。各组把三个时间写到黑板上。",
        "The card game, three rounds: guess, play, note. Groups write their three times on the board.",
    ),
    "paper_plan_2_says": (
        "每轮开始前问：C 什么时候能动手？做完问：谁闲得最久？有人慢，让大家看见所有人都在等他。",
        "Before each round: when can C begin? Afterwards: who waited most? If one is slow, let all see who waits.",
    ),
    "paper_plan_3": (
        "填方法 2 的时间表（记录表下半张），再填接力赛和流水线两张时间表。",
        "Fill in way 2's grid (lower half of the record), then the relay race and the production line.",
    ),
    "paper_plan_3_says": (
        "卡片是练习题，一叠是一小份，人是显卡。空格就是气泡：{relay_idle} 格和 {line_idle} 格。",
        "Cards are samples, a pile is a piece, people are GPUs. Empty cells are the bubble: {relay_idle} and {line_idle}.",
    ),
    "paper_plan_4": (
        "切得再细：1、4、8、16 小份。回到洗衣服，改自己的答案。",
        "Finer: 1, 4, 8, 16 pieces. Back to the laundry: mend your guess.",
    ),
    "paper_plan_4_says": (
        "气泡 {percents}。衣服 {pipelined} 分钟。太细也不好：交来交去也要时间。",
        "The bubble is {percents}. The laundry takes {pipelined} minutes. Too fine is no good: handing over takes time.",
    ),
    "paper_plan_5": (
        "草稿纸游戏：9 格、3 格、没有格，各玩一轮，数一数算了几次。",
        "Scratch paper with 9 cells, 3 cells and none: a round each, counting the steps.",
    ),
    "paper_plan_5_says": (
        "记得少，就多算：{evaluations} 次。显卡也是这样省出地方的。",
        "Keep less, compute more: {evaluations} steps. A GPU makes room in the same way.",
    ),
    "paper_plan_6": (
        "收尾三问：为什么要切小份？为什么不能太细？草稿为什么可以擦？",
        "Three questions to end with: why pieces? Why not too fine? Why may scratch paper be erased?",
    ),
    "paper_plan_6_says": (
        "切成小份，结果不变：每一小份该改多少先记着，最后加起来一起改。",
        "Pieces don't change the result: what each asks for is noted, and all is changed once, at the end.",
    ),
    "paper_plan_honest": (
        "哪些地方简化了：时间表只画了往前算，往回改没有画，气泡的比例不变。每段、每小份都当作一样长；真的网络要先量过再切。"
        "传数据要花的时间没有画。草稿纸游戏是个比方：真的训练里，往回改比往前算更费时间。",
        "What is simplified: the grids show the way forward only; with the way back the share of the bubble is the same. "
        "Stages and pieces count as equally long; a real network is measured first, then cut. The time to hand over isn't "
        "drawn. The scratch-paper game is a simile: in training the way back takes longer than the way forward.",
    ),
    # -- the command
    "paper_made": ("写好了：{path}（{count} 页 A4）", "written: {path} ({count} pages of A4)"),
    "paper_print": (
        "单面、黑白、按实际大小打印。每组：卡片、角色卡、记录表各 1 张；每人：时间表 1 张；每两人：草稿纸游戏 2 张。",
        "Print one-sided, black and white, at actual size. A group: 1 of cards, roles, record; a person: 1 of the grids; "
        "every two: the 2 of scratch paper.",
    ),
}
