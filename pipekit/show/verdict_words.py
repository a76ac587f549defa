"""What graders say: a sentence for every misconception that has a name; (Chinese, English), joined in `i18n`."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "verdict_right": ("√ 对了！{why}", "√ Right! {why}"),
    "verdict_wrong": ("× 还不对：{what}", "× Not yet: {what}"),
    "verdict_case": ("看这里：{case}", "Where it shows: {case}"),
    "verdict_unwritten": (
        "（成绩没有记下来：{why}；判得对不对不受影响。）",
        "(This was not written down: {why}. The verdict stands.)",
    ),
    # -- where it shows
    "case_seconds": ("等了 {seconds} 秒", "after {seconds} s"),
    "case_count": ("要 {wanted} 个，给了 {given} 个", "{wanted} wanted, {given} given"),
    "case_place": ("第 {place} 个数：{given}", "number {place}: {given}"),
    "case_error": ("{error}（第 {line} 行）", "{error} (line {line})"),
    "case_size": ("你的是 {rows} 行 {columns} 列", "yours has {rows} rows of {columns}"),
    "case_cell": ("显卡 {gpu} 第 {slot} 格：{given}", "GPU {gpu}, slot {slot}: {given}"),
    "case_schedule": (
        "K={k}, M={m}：你的要 {mine} 格，GPipe 要 {theirs} 格；各显卡最多留 {kept} 份",
        "K={k}, M={m}: yours takes {mine} slots, GPipe {theirs}; most pieces kept on each GPU: {kept}",
    ),
    "case_sizes": ("切成 {count} 小份，样本数是 {sizes}", "{count} pieces of {sizes} samples"),
    "case_desk": (
        "往前算完留着 {kept} 张，最多同时 {most} 张，一共算了 {calls} 次",
        "{kept} kept after the way there, {most} at most at once, {calls} layers computed in all",
    ),
    "case_step": ("第 {step} 步", "step {step}"),
    "case_computed": ("一共算了 {count} 次", "{count} steps computed"),
    # -- any answer
    "wrong_unanswered": (
        "还没作答：把 ... 换成你的答案，再运行一次。",
        "No answer yet: put yours in place of ... and run again.",
    ),
    "wrong_raised": ("你的代码运行时出错了。", "your code raised an error."),
    "wrong_too_slow": (
        "等了太久还没算完，是不是循环停不下来？已经让它停了。",
        "it took too long; does a loop never end? It was stopped.",
    ),
    "wrong_too_slow_still_runs": (
        "等了太久，而且停不下来，它还在后台跑：请重启内核。",
        "it took too long and can't be stopped; it still runs: restart the kernel.",
    ),
    "wrong_not_a_list": ("这里要一个列表，例如 [1, 2, 3]。", "a list is wanted here, such as [1, 2, 3]."),
    "wrong_not_a_number": ("这里要一个数。", "a number is wanted here."),
    "wrong_not_a_function": (
        "请把函数本身交上来，不要加括号：check(f)，不是 check(f(1))。",
        "hand over the function itself, without brackets: check(f), not check(f(1)).",
    ),
    "wrong_wrong_count": ("数的个数不对。", "not as many numbers as asked."),
    "wrong_zeros": (
        "全是 0：形状对了，还没有算。",
        "all zeros: the shape is right, but nothing was computed.",
    ),
    "wrong_numbers_differ": ("有的数不对。", "not every number is right."),
    "wrong_only_one_case": (
        "课上那组数对了，换一组就不对：是不是把数写死了？",
        "right for the lesson's numbers, wrong for others: are numbers written into the code?",
    ),
    "wrong_not_whole": (
        "要整数：没有半份，也没有半层。",
        "whole numbers, please: there are no half pieces or layers.",
    ),
    # -- counting cells, cutting layers
    "wrong_busy_idle_swapped": ("干活的和闲着的写反了。", "busy and idle are the wrong way round."),
    "wrong_cut_grid_counted": (
        "你数的是切成 4 小份的时间表；这里一大批不切。",
        "you counted the grid of 4 pieces; here the mini-batch stays whole.",
    ),
    "wrong_slots_not_cells": (
        "你只数了列（格），没有乘 4 行：每块显卡都有自己的一行。",
        "you counted columns only: every GPU has a row of its own.",
    ),
    "wrong_all_work_at_once": (
        "这样 4 块显卡就一直都在干活；可是跑接力时，同一时刻只有一块在干活。",
        "then all 4 GPUs would work all the time; in a relay race only one does.",
    ),
    "wrong_counts_not_layers": (
        "每块几层是对的，请写出是第几层到第几层。",
        "so many layers each, yes; write which: first and last.",
    ),
    "wrong_not_pairs": (
        "每块显卡要写一对：(头一层, 最后一层)。",
        "a pair for each GPU: (first layer, last layer).",
    ),
    "wrong_layers_from_zero": (
        "你从 0 数起了；课上从 1 数起。",
        "you counted from 0; in class we count from 1.",
    ),
    "wrong_border_twice": (
        "边上的一层给了两块显卡：前一块到第 10 层，后一块就从第 11 层开始。",
        "a layer at the border went to two GPUs: after layer 10 the next begins with 11.",
    ),
    "wrong_stages_out_of_order": (
        "段没错，顺序错了：数据先到第 1 块显卡。",
        "the stages are right, their order isn't: data enter at GPU 1.",
    ),
    "wrong_layers_missing": (
        "有的层没人要，或者多出来了：每层正好给一块显卡。",
        "layers are missing, or too many: each goes to exactly one GPU.",
    ),
    "wrong_stages_unequal": (
        "每一层都有人要，可是各段不一样长。",
        "every layer has its GPU, but the stages are not equally long.",
    ),
    "wrong_not_consecutive": (
        "每块显卡要拿挨着的层，这样数据只在段和段之间传一次。",
        "a GPU takes neighbouring layers, so that data cross only from stage to stage.",
    ),
    "wrong_stage_without_layers": ("有一块显卡一层也没拿到。", "one GPU got no layer at all."),
    "wrong_loads_not_counts": (
        "这是每段的格数；请写每段有几层。",
        "these are the stages' slots; write how many layers each has.",
    ),
    "wrong_equal_counts": (
        "层数一样，不等于一样重：后面的层更慢，最重的一段大家都得等。",
        "equally many layers don't weigh the same: the later ones are slower, and all wait for the heaviest stage.",
    ),
    "wrong_stage_too_heavy": (
        "最重的一段还可以更轻（下面是你的各段各要几格）。",
        "the heaviest stage can be lighter (the stages' slots are below).",
    ),
    # -- the grid
    "wrong_grid_turned": (
        "行和列写反了：一行是一块显卡，一列是一格。",
        "rows and columns are swapped: a row is a GPU, a column a slot.",
    ),
    "wrong_grid_size": (
        "大小不对，要 4 行 7 列。",
        "not the right size: 4 rows of 7 are wanted.",
    ),
    "wrong_grid_upside_down": (
        "上下颠倒了：第 1 块显卡在最上面，它最先开工。",
        "upside down: GPU 1 is the top row and starts first.",
    ),
    "wrong_all_start_at_once": (
        "4 块显卡同时开工了；可是后面的显卡手里还没有东西。",
        "all 4 GPUs start at once, but the later ones have nothing to work on yet.",
    ),
    "wrong_could_work": (
        "这一格不用闲着：下一小份已经到了。",
        "no need to be idle here: the next piece has arrived.",
    ),
    "wrong_no_such_piece": ("没有这个编号的小份。", "there is no piece of that number."),
    "wrong_piece_twice": ("同一小份在同一块显卡上做了两次。", "the same piece twice on the same GPU."),
    "wrong_not_there_yet": (
        "这一小份还没从上一块显卡出来。",
        "this piece has not come out of the GPU before.",
    ),
    "wrong_piece_out_of_turn": ("现在该做另一格。", "something else is due here."),
    # -- the bubble, cards
    "wrong_busy_not_idle": (
        "这是干活的时间；问的是闲着的时间。",
        "that is the busy share; the idle one is asked.",
    ),
    "wrong_shares_not_percent": (
        "这是小数；请写百分数，乘 100。",
        "these are shares; in percent they are 100 times as large.",
    ),
    "wrong_idle_by_work": (
        "你拿闲着的时间除以了干活的时间；要除以全部时间。",
        "you divided idle time by busy time; divide it by all the time.",
    ),
    "wrong_bubble_stays": (
        "切得越细，气泡越小；不会一直是 75%。",
        "the bubble shrinks with more pieces; it doesn't stay at 75 %.",
    ),
    "wrong_bubble_by_pieces": (
        "小份多 M 倍，气泡并不会小 M 倍：列数只是 M + 3。",
        "M times as many pieces don't make it M times as small: there are M + 3 columns.",
    ),
    "wrong_first_card_done": (
        "这是 C 做完第一份的时间；问的是 C 拿到的时间。",
        "that is when C has finished the first cards; asked is when C gets them.",
    ),
    "wrong_no_overlap": (
        "A、B、C 可以同时干活：传得早，后面的人就早开工。",
        "A, B and C can work at the same time: what is handed on early starts early.",
    ),
    "wrong_only_one_person": (
        "每张卡要三个人都做一遍，不是只有一个人。",
        "every card passes all three people, not one.",
    ),
    "wrong_one_card_too_early": (
        "早了一拍：从 0 拍开始，做完 1 张是 1 拍。",
        "one beat too early: from beat 0, one card is done at beat 1.",
    ),
    "wrong_pairs_swapped": ("一对里的两个数写反了。", "the two numbers of each pair are swapped."),
    # -- slots, times, pieces
    "wrong_slot_one_late": (
        "晚了一格：k = 1、m = 1 就该在第 1 格。",
        "one slot too late: k = 1, m = 1 is slot 1.",
    ),
    "wrong_slot_one_early": ("早了一格：这里从 1 数起。", "one slot too early: here we count from 1."),
    "wrong_slot_product": (
        "是加，不是乘：每往下一块只晚一格。",
        "add, don't multiply: each GPU further down is one slot later.",
    ),
    "wrong_slot_only_piece": ("你没有用 k：后面的显卡要晚开工。", "k is not used: later GPUs start later."),
    "wrong_slot_only_gpu": ("你没有用 m：后面的小份要晚一些。", "m is not used: later pieces come later."),
    "wrong_slot_relay": (
        "这是跑接力：上一块做完全部小份才交。小份一做完就可以交。",
        "that is a relay race: all pieces before a hand-over. A piece is handed on as soon as it is done.",
    ),
    "wrong_finish_relay": (
        "这是一份走完全程，下一份才出发；其实可以同时走。",
        "that lets a piece start only when the one before is all through; they can go at the same time.",
    ),
    "wrong_finish_no_fill": (
        "只算了最慢的一段，忘了开头和结尾：第一份还要走完其他段。",
        "only the slowest stage was counted: the first piece has to pass the others, too.",
    ),
    "wrong_finish_all_slowest": (
        "不是每一段都像最慢的那段一样慢。",
        "not every stage is as slow as the slowest.",
    ),
    "wrong_finish_first_piece": (
        "只算了第 1 份；后面还有 M - 1 份。",
        "only the first piece was counted; there are M - 1 more.",
    ),
    "wrong_finish_last_gpu": (
        "说了算的是最慢的一段，不是最后一段。",
        "the slowest stage sets the pace, not the last one.",
    ),
    "wrong_finish_mean": (
        "后面每份晚的是最慢一段的时间，不是平均时间。",
        "each next piece comes the slowest stage's time later, not the mean.",
    ),
    "wrong_finish_one_too_many": (
        "第 1 份已经算过了，后面只有 M - 1 份。",
        "the first piece is counted already; only M - 1 follow.",
    ),
    "wrong_root_forgotten": ("忘了开平方。", "the square root is missing."),
    "wrong_gpus_forgotten": (
        "忘了 K - 1：显卡越多，开头和结尾越长，越值得切细。",
        "K - 1 is missing: more GPUs have longer fill and drain, and are worth more pieces.",
    ),
    "wrong_upside_down": (
        "分子和分母写反了：alpha 越大，越不该切细。",
        "upside down: the larger alpha, the fewer pieces.",
    ),
    "wrong_always_four_k": (
        "总是 4 K 并不对：要看每份多花的时间 alpha。",
        "4 K is not always best: it depends on alpha, spent on every piece.",
    ),
    "wrong_always_one": ("不切，气泡最大。", "in one piece the bubble is largest."),
    "wrong_no_pieces": ("不能切成 0 份，至少 1 份。", "0 pieces is not possible: at least 1."),
    "wrong_as_many_as_possible": (
        "切得太细了：每份都要多花 alpha。",
        "far too fine: every piece pays alpha.",
    ),
    "wrong_not_the_best": ("比最快的慢了 1% 以上。", "more than 1 % slower than the best."),
    # -- orders
    "wrong_unreadable_lanes": (
        "有的字看不懂，应该像 0F0 0B0 这样。",
        "there is a word that is no op; they look like 0F0 0B0.",
    ),
    "wrong_cannot_run": ("照这个先后做不下去。", "this order can't run."),
    "wrong_schedule_size": (
        "段数、显卡数或小份数和要求的不一样。",
        "not so many stages, GPUs or pieces as asked.",
    ),
    "wrong_backwards_in_same_order": (
        "往回改的顺序反了：最后一份先回来。（这样也能跑，PyTorch 就是这样，但不是论文里的 GPipe。）",
        "the backwards are the wrong way round: the last piece comes back first. (It does run, and PyTorch does it so, but it isn't the paper's GPipe.)",
    ),
    "wrong_forwards_only": ("只有往前算，没有往回改。", "only forwards: nobody goes back."),
    "wrong_piece_by_piece": (
        "一份一份来，做完一份才做下一份：草稿是少了，显卡却大多闲着。",
        "piece by piece, each there and back before the next: little is kept, but most GPUs are idle.",
    ),
    "wrong_ops_from_one": ("你从 1 数起了；写程序从 0 数起。", "you counted from 1; code counts from 0."),
    "wrong_everybody_stage_0": (
        "每块显卡都写成了第 0 段；第 s 块做的是第 s 段。",
        "every GPU got stage 0; GPU s does stage s.",
    ),
    "wrong_one_f_one_b_given": (
        "这是 1F1B（一往一回），不是 GPipe。",
        "that is 1F1B, one forward and one backward in turn, not GPipe.",
    ),
    "wrong_another_order": ("能跑，但不是 GPipe 的先后。", "it runs, but in another order than GPipe's."),
    "wrong_still_gpipe": (
        "这就是 GPipe：草稿一份没少。",
        "this is GPipe itself: nothing is saved.",
    ),
    "wrong_recompute_is_slower": (
        "擦掉重算要多花时间；这里只换先后。",
        "recomputing takes time; only change the order here.",
    ),
    "wrong_slower_than_gpipe": (
        "比 GPipe 慢了。",
        "slower than GPipe.",
    ),
    "wrong_keeps_as_much": (
        "留草稿最多的那块显卡，一份也没少留。",
        "the GPU that keeps most keeps as many as with GPipe.",
    ),
    # -- gradients
    "wrong_no_gradients": (
        ".grad 里什么也没有，或者全是 0：忘了 .backward() 吗？",
        ".grad is empty or all zeros: was .backward() called?",
    ),
    "wrong_weights_changed": (
        "旋钮被改了：最后一起改，这里只攒梯度。",
        "the weights were changed: that comes once, at the end; only gather gradients here.",
    ),
    "wrong_pieces_joined": (
        "小份被拼回了一大批：书桌放不下。",
        "the pieces were joined into the whole batch again: the desk can't hold it.",
    ),
    "wrong_m_times_too_large": (
        "大了 M 倍：每份求的是自己的平均，加起来还要除以 M。",
        "M times too large: each piece took its own mean, and the sum was not divided by M.",
    ),
    "wrong_plain_sum": (
        "直接加起来了：每份要先乘上它占的比例。",
        "just added up: each piece has to be weighed by its share first.",
    ),
    "wrong_plain_mean": (
        "每份算得一样重了：各份样本数不同，要按样本数的比例。",
        "every piece weighs the same here: with different sizes the share of the samples counts.",
    ),
    "wrong_first_only": ("只算了第 1 小份。", "only the first piece was counted."),
    "wrong_last_only": (
        "只剩下最后一小份：前面的被清掉了吗？（zero_grad 要放在循环外面。）",
        "only the last piece is left: were the others cleared? (zero_grad belongs before the loop.)",
    ),
    "wrong_n_times_too_large": (
        "大了 N 倍（N 是样本总数）：每份乘了样本数，却没有除以总数。",
        "N times too large (N samples in all): weighed by samples, but not divided by their total.",
    ),
    "wrong_m_times_too_small": ("小了 M 倍：除了两次。", "M times too small: divided twice."),
    "wrong_wrong_sign": ("正负号反了。", "the sign is the wrong way round."),
    "wrong_gradients_differ": (
        "梯度不对，和平常算出来的不一样。",
        "the gradients are not those of the ordinary way.",
    ),
    # -- which models
    "wrong_no_such_letter": ("只有 A 到 F。", "there are only A to F."),
    "wrong_all_letters": (
        "不是全部：A 里没有哪层会看别的样本。",
        "not all of them: nothing in A looks at other samples.",
    ),
    "wrong_no_letter": ("有的模型会变。", "some of them do change."),
    "wrong_every_normalisation": (
        "不是所有归一化都会变：LayerNorm 和 GroupNorm 只看一个样本。",
        "not every normalisation changes: LayerNorm and GroupNorm look at one sample only.",
    ),
    "wrong_letters_inverted": (
        "写反了：这些正好是不变的。",
        "the other way round: these are the ones that stay the same.",
    ),
    "wrong_frozen_counted": (
        "E 是冻住的，用的是记下来的平均数，不看这一份。",
        "E is frozen: it uses the averages it kept, not those of the piece.",
    ),
    "wrong_letter_too_many": ("多写了：其中有一个其实不变。", "one of them stays the same."),
    "wrong_letter_missing": ("还少一个。", "one is missing."),
    # -- recompute
    "wrong_answer_shape": ("返回的不是最后一层的结果。", "what is returned is not the last layer's result."),
    "wrong_answer_differs": (
        "结果不对：9 层都要依次走过。",
        "the result is wrong: all 9 layers, one after the other.",
    ),
    "wrong_no_way_back": ("走不回来：没有梯度了。", "there is no way back: no gradients."),
    "wrong_no_recompute": (
        "什么也没擦：中间结果全都留着。",
        "nothing is erased: every layer's result is kept.",
    ),
    "wrong_kept_too_much": (
        "留得太多：往前算完最多留 4 张。",
        "too much is kept: at most 4 after the way there.",
    ),
    "wrong_recomputed_too_often": (
        "重算得太多：每层最多算 2 次。",
        "too much is computed again: no layer more than twice.",
    ),
    "wrong_all_at_once_again": (
        "往前算时省了，往回改时却一下子全摆了出来：要一段一段重算。",
        "saved on the way there, but all laid out at once on the way back: recompute part by part.",
    ),
    # -- scratch paper
    "wrong_unreadable_move": (
        "有一步看不懂，应该像 3 或 3* 这样。",
        "a move can't be read; they look like 3 or 3*.",
    ),
    "wrong_no_such_step": ("只有第 1 步到第 9 步。", "there are only steps 1 to 9."),
    "wrong_step_not_needed": (
        "这一步已经问过了，不用再算。",
        "this step has been asked for already; no need to compute it again.",
    ),
    "wrong_step_before_lost": (
        "这一步算不了：上一步不在脑子里，也不在格子里。",
        "this step can't be computed: the one before is neither in mind nor in a cell.",
    ),
    "wrong_no_cell_free": ("没有空格子了：只有 3 格。", "no cell is free: there are only 3."),
    "wrong_moves_left_over": (
        "问题都答完了，后面这些不用算。",
        "all questions are answered; the rest is not needed.",
    ),
    "wrong_questions_left": (
        "还有问题没回答，B 正在问下面这一步。",
        "questions are left: B is asking for this step.",
    ),
    "wrong_lesson_rule_played": (
        "15 次，和课上的玩法一样多，还能少 1 次：第一遍走的时候，第 3 格别空着。",
        "15, as many as the lesson's way; one less is possible: don't leave the third cell empty on the first way.",
    ),
    "wrong_third_cell_unused": ("18 次：第 3 格一直没用上。", "18: the third cell was never used."),
    "wrong_nothing_kept": (
        "45 次：什么也没记，每个问题都从头算。",
        "45: nothing was written down, every question starts from the beginning.",
    ),
    "wrong_more_than_needed": (
        "都答对了，可是还能少算几次。",
        "all answered, but with more steps than needed.",
    ),
}
