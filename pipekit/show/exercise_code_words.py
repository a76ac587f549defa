"""The words of the exercises that ask for a piece of code: (Chinese, English); joined to the others in `i18n`."""

from __future__ import annotations

from pipekit.show.exercise_words import exercise

WORDS = exercise(
    "slot",
    ("第几格？", "Which slot?"),
    (
        "写一个函数 slot(k, m)：第 k 块显卡在第几格做小份 m？只看往前算，每份每块 1 格，都从 1 数起。",
        "Write slot(k, m): in which slot does GPU k work on piece m? Forward only, 1 slot a piece and GPU; everything counts from 1.",
    ),
    ("第 1 块显卡做小份 m，是第几格？", "GPU 1 works on piece m: in which slot?"),
    ("往下一块显卡，晚一格。", "One GPU further down is one slot later."),
    ("k = 1、m = 1 时要得到 1。", "For k = 1 and m = 1 it must be 1."),
    ("第 k 块比第 1 块晚 k - 1 格：m + (k - 1)。", "GPU k is k - 1 slots behind GPU 1: m + (k - 1)."),
)
WORDS |= exercise(
    "finish_time",
    ("有一段慢，什么时候全部做完？", "A slow stage: when is all done?"),
    (
        "times 是一小份在每块显卡上要几格，例如 [1, 3, 2]（见图）；一共 M 小份，只看往前算。\n"
        "写一个函数 finish(times, M)：全部做完要几格？",
        "times says how many slots one piece takes on each GPU, such as [1, 3, 2] (see the picture); there are M pieces, forward only.\n"
        "Write finish(times, M): after how many slots is all done?",
    ),
    ("小份 1 一路上不用等谁：走完全程要几格？", "Piece 1 never waits: how many slots until it is through?"),
    (
        "后面每一份，比前一份晚几格出来？看最慢的那块显卡。",
        "How much later does each next piece come out? Look at the slowest GPU.",
    ),
    (
        "第一份走完，再加 M - 1 份，每份隔最慢一段的时间。",
        "The first piece's way, plus M - 1 times the slowest stage.",
    ),
    (
        "小份 1 要 sum(times) 格；后面 M - 1 份，每份晚 max(times) 格：最慢的一段说了算。",
        "Piece 1 takes sum(times); each of the other M - 1 comes max(times) later: the slowest sets the pace.",
    ),
)
WORDS |= exercise(
    "best_pieces",
    ("切成几小份最快？", "How many pieces are quickest?"),
    (
        "K 块显卡。一小份在一段上要 alpha + beta / M 秒：beta 是真正的活，切成 M 份就分成 M 份；alpha 是每一小份都要多花的时间。\n"
        "全部做完要 (M + K - 1) × (alpha + beta / M) 秒。写一个函数 best(K, alpha, beta)：M 是几时最快？M 是整数，至少是 1。",
        "K GPUs. One piece takes alpha + beta / M seconds on a stage: beta is the work, shared out over M pieces; alpha is spent on every piece again.\n"
        "All is done after (M + K - 1) x (alpha + beta / M) seconds. Write best(K, alpha, beta): which M is quickest? A whole number, at least 1.",
    ),
    (
        "把乘积展开：哪一项随 M 变大？哪一项随 M 变小？",
        "Multiply it out: which part grows with M, which one shrinks?",
    ),
    (
        "变大的是 alpha × M，变小的是 beta × (K - 1) / M。两项一样大时最快。",
        "alpha x M grows, beta x (K - 1) / M shrinks. It is quickest where they are equal.",
    ),
    (
        "M × M = beta × (K - 1) / alpha。别忘了开方、取整、至少 1。",
        "M x M = beta x (K - 1) / alpha. Then the root, a whole number, at least 1.",
    ),
    (
        "M 是 beta × (K - 1) / alpha 的平方根：切得太粗气泡大，切得太细每份多花的时间太多。",
        "M is the square root of beta (K - 1) / alpha: fewer pieces leave a bubble, more pieces pay alpha too often.",
    ),
)
WORDS |= exercise(
    "gpipe_order",
    ("写出 GPipe 的排法", "Write the GPipe order"),
    (
        "写一个函数 order(K, M)：K 段、M 小份时，每块显卡依次做什么。这里照程序员的习惯从 0 数起：0F1 是第 0 段、小份 1 往前算，0B1 是它往回改。\n"
        'GPipe：先把所有小份往前算，再倒着往回改（最后一份先回来）。每块显卡写一行，例如 K = 2、M = 2 的第 0 块是 "0F0 0F1 0B1 0B0"（见图）。',
        "Write order(K, M): what each GPU does, in order, with K stages and M pieces. Count from 0 as programmers do: 0F1 is stage 0 forward on piece 1, 0B1 the same backward.\n"
        'GPipe: all pieces forward, then all backward in the opposite order (the last piece comes back first). A line a GPU; with K = 2 and M = 2, GPU 0 has "0F0 0F1 0B1 0B0" (see the picture).',
    ),
    ("先只写往前算：第 s 块显卡依次是 sF0、sF1……", "Forwards first: GPU s does sF0, sF1, ..."),
    (
        "往回改从 M - 1 数到 0：reversed(range(M))。",
        "Backwards run from M - 1 down to 0: reversed(range(M)).",
    ),
    ('拼成一行：" ".join([...])，K 块显卡写 K 行。', 'Join them: " ".join([...]), and make K lines.'),
    (
        "先都往前算，再倒着往回改；K 和 M 是几都行。",
        "All forward, then all back from the last: for any K and M.",
    ),
)
WORDS |= exercise(
    "scale_gradients",
    ("梯度怎么加才一样？", "Add up the gradients"),
    (
        "写一个函数 accumulate(model, loss, pieces)：一小份一小份地算，最后 .grad 里要和整批一起算的一样。\n"
        "pieces 是 (batch, target) 的列表，各份的样本（练习题）数可能不同；loss(model(batch), target) 是这一份样本的平均。不要改旋钮，也不要把小份拼回一大批。",
        "Write accumulate(model, loss, pieces): go through the pieces one by one so that .grad ends up as for the whole mini-batch.\n"
        "pieces is a list of (batch, target), perhaps of different sizes; loss(model(batch), target) is the mean over one piece. Don't change the weights, and don't join the pieces.",
    ),
    (
        ".backward() 每次都往 .grad 里加，不会清零。",
        ".backward() adds to .grad each time; it doesn't clear it.",
    ),
    (
        "每份求的是自己的平均。直接加起来，会大几倍？",
        "Each piece gives its own mean. How many times too large is their sum?",
    ),
    (
        "每份按样本数占的比例算：len(batch) / 总样本数，乘在 loss 前面。",
        "Weigh each piece by its share of the samples, len(batch) / all samples, before going back.",
    ),
    (
        "每份的 loss 乘上它占的比例再往回改，加起来就是整批的平均：怎么切，结果都一样。",
        "Each piece's loss counts by its share of the samples; the sum is the whole batch's mean, however it was cut.",
    ),
)
WORDS |= exercise(
    "recompute",
    ("擦掉重算", "Erase and redo"),
    (
        "写一个函数 forward(layers, x)：把 x 依次送过 9 层，返回结果。要求结果和梯度都和平常一样，但是草稿要少：\n"
        "往前算完，中间各层的结果最多留 4 张；任何时候最多同时有 6 张；每层最多算 2 次（往前 1 次，重算 1 次）。",
        "Write forward(layers, x): send x through all 9 layers and return the result. Result and gradients must be the ordinary ones, with less scratch paper:\n"
        "after the way there at most 4 of the layers' results are kept; never more than 6 at once; no layer computes more than twice (once there, once again).",
    ),
    (
        "切成几段，每段只留入口。torch.utils.checkpoint 能帮你擦掉一段里面的草稿。",
        "Cut the tower into parts and keep only what enters each. torch.utils.checkpoint erases the inside of a part.",
    ),
    (
        "每层一段，入口全留着，什么也没省；9 层一段，重算时又全摆出来。取中间。",
        "Parts of 1 layer keep every entrance; one part of 9 lays everything out again on the way back. Take the middle.",
    ),
    (
        "3 层一段：checkpoint(nn.Sequential(*layers[0:3]), x, use_reentrant=False)，接着是 3:6 和 6:9。",
        "Parts of 3: checkpoint(nn.Sequential(*layers[0:3]), x, use_reentrant=False), then 3:6 and 6:9.",
    ),
    (
        "3 段，每段 3 层：往前算完只留 2 张入口，往回改时一段一段重算。多花一点时间，换来桌上的空地。",
        "3 parts of 3 layers: 2 entrances kept, and each part computed again on the way back. Time for memory.",
    ),
)
WORDS |= exercise(
    "beat_gpipe",
    ("一样快，草稿更少", "As quick, with less kept"),
    (
        "写一个函数 order(K, M)，写法和上面一样（从 0 数起）。往前算 1 格，往回改 2 格。\n"
        "要求：M 大于 K 时，和 GPipe 一样快做完，但是留草稿最多的那块显卡，留的份数要比 GPipe 少（GPipe 要留 M 份）。",
        "Write order(K, M) in the same form (counting from 0). Forward takes 1 slot, backward 2.\n"
        "For M above K it must be done as soon as GPipe, while the GPU that keeps most has fewer pieces in flight than with GPipe (which keeps M).",
    ),
    (
        "最后一块显卡做完一份往前算，能不能马上往回改？",
        "The last GPU has finished a piece's forward: may it go back on it at once?",
    ),
    (
        "第 s 块显卡先往前算 K - s 份，够后面的显卡开工就行。",
        "GPU s goes forward on K - s pieces first: enough to keep those behind it busy.",
    ),
    ("以后每往回改一份，再往前算一份：一回一往。", "From then on one back, one forward, in turn."),
    (
        "一往一回（1F1B）：每做完一份往回改，就放掉一份草稿，所以第 s 块最多留 K - s 份，时间和 GPipe 一样。",
        "One forward, one backward (1F1B): each backward frees a piece's paper, so GPU s keeps at most K - s, and it takes as long as GPipe.",
    ),
)
