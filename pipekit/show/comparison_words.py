"""The comparison panel's part of the table of words (`i18n`): (Chinese, English), for a class and for engineers."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- names of schedules, as the field says them
    "interleaved_1f1b": ("交错 1F1B", "interleaved 1F1B"),
    "looped_bfs": ("循环 BFS", "looped BFS"),
    "zb_h1": ("ZB-H1", "ZB-H1"),
    "zb_h2": ("ZB-H2", "ZB-H2"),
    "zb_v": ("ZB-V", "ZB-V"),
    "dualpipe": ("DualPipe", "DualPipe"),
    "dualpipe_v": ("DualPipeV", "DualPipeV"),
    "chimera": ("Chimera", "Chimera"),
    # -- the panel
    "compare_title": ("比一比各种排法", "Compare schedules"),
    "compare_schedules": ("比哪些：", "Compare:"),
    "compare_chunks": ("每块显卡几段", "Stages a GPU"),
    "compare_costs": ("往前算和往回改各几格：", "Slots forward and back:"),
    "compare_forward": ("F 往前算", "F forward"),
    "compare_input_grad": ("I 往回改前一半", "I backward, input half"),
    "compare_weight_grad": ("W 往回改后一半", "W backward, weight half"),
    "compare_recompute": ("R 擦掉重算", "R redo"),
    "compare_latency": ("传一次几格", "Slots a hand-over"),
    "compare_overhead": ("每格活多花几格", "Extra slots an op"),
    "compare_slow_part": ("慢的一段", "Slow part"),
    "compare_part": ("第 {number} 段", "part {number}"),
    "compare_run": ("真的训练，约 {seconds} 秒", "Really train, about {seconds} s"),
    "compare_confirm": (
        "要花约 {seconds} 秒，再按一次就开始",
        "This takes about {seconds} s: press again to start",
    ),
    "compare_cap": ("草稿最多几份", "Most scratch paper"),
    "compare_find": ("每种排法的最好成绩", "Each at its best"),
    "compare_as_set": ("回到上面的设置", "Back to the knobs"),
    "compare_ready": (
        "改一改设置，图马上变：那是算出来的。按“真的训练”，就换成测到的。",
        'Move a knob and the picture follows: predicted. "Really train" puts measurements in its place.',
    ),
    "compare_preparing": ("正在准备……", "Getting ready …"),
    "compare_training": ("正在训练 {name}（{number}/{total}）……", "Training {name} ({number} of {total}) …"),
    "compare_searching": ("正在试：{done}/{total} 种搭配……", "Trying: {done} of {total} combinations …"),
    "compare_finished": (
        "训练好了：{good} 种测到了，{rest} 种只有算出来的，用了 {seconds:.0f} 秒。",
        "Done: {good} measured, {rest} predicted only, in {seconds:.0f} s.",
    ),
    "compare_cancelled": (
        "停了：测好的留着，正在训练的那一次没有算数。",
        "Stopped: what was measured is kept, the step that ran was undone.",
    ),
    "compare_found": ("找好了，用了 {seconds:.1f} 秒。", "Found, in {seconds:.1f} s."),
    "compare_nothing": (
        "没有图可画：请至少选一种做得了的排法。",
        "Nothing to draw: choose at least one schedule that these numbers allow.",
    ),
    # -- one schedule
    "compare_name_chunks": ("每块显卡 {count} 段", "{count} stages a GPU"),
    "compare_name_pieces": ("切成 {count} 小份", "{count} pieces"),
    "compare_caption": (
        "{name} · {source} · {slots}格 · 气泡 {percent:.1f}%",
        "{name} · {source} · {slots} slots · bubble {percent:.1f}%",
    ),
    "compare_overrun": ("有 {count} 格活超时，不可信", "{count} overruns: not to be trusted"),
    "compare_late": ("有一格晚了 {ms:.0f} 毫秒", "an op {ms:.0f} ms late"),
    "compare_not_compared": (
        "结果和不切时一样吗？训练了才知道。",
        "Is the result the same as uncut? Training will tell.",
    ),
    "compare_refused": ("只有算出来的：{why}", "Predicted only: {why}"),
    "compare_different": (
        "结果不一样：每个旋钮要改的量，和不切时最多差{difference}",
        "Not the same result: what a parameter is changed by differs from uncut by up to {difference}",
    ),
    "compare_source_predicted": (
        "算出来的：什么也没有运行 · {devices} 块显卡，活一样多",
        "Predicted: nothing ran · {devices} GPUs, the same total work for all",
    ),
    "compare_source_measured": (
        "测到的：每种真的训练同一批{samples}张手写数字 · {on}",
        "Measured: each really trained on the same {samples} digits · {on}",
    ),
    # -- the table
    "compare_col_time": ("用几格", "Slots"),
    "compare_col_bubble": ("闲着（气泡）", "Idle (bubble)"),
    "compare_col_overhead": ("闲着÷干活", "Idle / work"),
    "compare_col_barrier": ("等到都做完，平均闲几格", "Idle slots until all are done"),
    "compare_col_span": ("头尾之间最多闲几格", "Idle slots between first and last op"),
    "compare_col_peak": ("草稿最多几份", "Scratch paper, most"),
    "compare_col_pairs": ("还没往回改的（段，小份）", "(stage, piece) pairs kept"),
    "compare_col_messages": ("一共传几次", "Hand-overs"),
    "compare_col_copies": ("旋钮存几套", "Copies of the parameters"),
    "compare_col_difference": ("和不切时差", "Differs from uncut"),
    "compare_closed": ("公式", "formula"),
    "compare_predicted": ("算出来的", "predicted"),
    "compare_measured": ("测到的", "measured"),
    # -- what the table means
    "compare_two_bubbles": (
        "{name} 的气泡有两种算法。等大家都做完：每块显卡平均闲{barrier}格。只看自己的第一格活到最后一格活：最多闲{span}格。"
        "大家要等齐了才一起改旋钮，就要按前一种算。",
        "{name} has two bubbles. Until all are done, a GPU idles {barrier} slots on average. Between its own first and "
        "last op it idles {span} at most. If GPUs wait for each other before the parameters change, the first one counts.",
    ),
    "compare_two_bases": (
        "百分数也有两种：GPipe 的 (K-1)/(M+K-1) 除以总时间，Megatron 的 (K-1)/M 除以干活的时间。闲着的是同样几格。",
        "Percentages differ too: GPipe's (K-1)/(M+K-1) divides by all the time, Megatron's (K-1)/M by the working "
        "time. The idle slots are the same.",
    ),
    "compare_memory_unit": (
        "一份草稿有多大：按上面选的份数切，一块显卡算一小份要留的。小一半就算半份；擦掉重算的，重算之前只算十分之一份。",
        "One sheet of scratch paper: what a GPU's share of the model keeps of one piece as the knobs cut it. Half the "
        "size counts half; what is redone keeps a tenth until then.",
    ),
    "compare_fused": (
        "DualPipe 把一小份的往前算和另一小份的往回改叠在一起做，这里没有叠：叠起来省的时间不在图里。",
        "DualPipe overlaps one piece's forward with another's backward; here nothing overlaps, so that gain isn't shown.",
    ),
    "compare_tried": (
        "草稿不超过 {cap} 份：一共试了 {tried} 种搭配（切成 {pieces} 小份{chunks}{policies}）；"
        "{over} 种草稿太多，{refused} 种排不了，剩下的里面每种排法留最快的。",
        "At most {cap} of scratch paper: {tried} combinations tried ({pieces} pieces{chunks}{policies}); {over} keep too "
        "much, {refused} can't be built, and of the rest the fastest of each schedule is shown.",
    ),
    "compare_tried_chunks": ("，每块显卡 {chunks} 段", ", {chunks} stages a GPU"),
    "compare_tried_policies": ("，草稿 {policies}", ", scratch paper: {policies}"),
    "compare_finest": (
        "切得更细不用多花时间，所以总是越细越快；给“每格活多花几格”一个数再试试。",
        'Finer pieces cost nothing here, so the finest always win; try again with "Extra slots an op" above 0.',
    ),
    "compare_over_cap": (
        "{name}：草稿最少也要 {least} 份，超过了 {cap} 份",
        "{name}: keeps at least {least} of scratch paper, over the cap of {cap}",
    ),
    "compare_failed_row": ("{name}：{why}", "{name}: {why}"),
}

ENGINEER: dict[str, tuple[str, str]] = {
    "interleaved_1f1b": ("Interleaved 1F1B", "Interleaved 1F1B"),
    "looped_bfs": ("Looped BFS", "Looped BFS"),
    "compare_title": ("调度对比", "Compare schedules"),
    "compare_schedules": ("调度：", "Schedules:"),
    "compare_chunks": ("v（每设备阶段数）", "v (stages a device)"),
    "compare_costs": ("每个微批次、每设备全部阶段（格）：", "Slots a micro-batch and device:"),
    "compare_forward": ("F", "F"),
    "compare_input_grad": ("I", "I"),
    "compare_weight_grad": ("W", "W"),
    "compare_recompute": ("R", "R"),
    "compare_latency": ("每跳延迟（格）", "Latency a hop (slots)"),
    "compare_overhead": ("每个操作的开销（格）", "Overhead an op (slots)"),
    "compare_slow_part": ("模型慢的部分", "Slow part of the model"),
    "compare_part": ("第 {number} 个 1/K", "1/K number {number}"),
    "compare_run": ("在替身设备上训练，约 {seconds} 秒", "Train on stand-ins, about {seconds} s"),
    "compare_cap": ("激活显存上限", "Activation cap"),
    "compare_find": ("上限之内各调度的最优 v、M、重计算", "Best v, M, policy under the cap"),
    "compare_as_set": ("回到当前参数", "Back to the knobs"),
    "compare_ready": (
        "改变参数，预测随之更新；训练之后显示实测。",
        "Move a knob: the prediction follows. Training replaces it with what was measured.",
    ),
    "compare_training": ("正在训练 {name}（{number}/{total}）……", "Training {name} ({number} of {total}) …"),
    "compare_finished": (
        "完成：{good} 个调度有实测，{rest} 个只有预测，用时 {seconds:.0f} 秒。",
        "Done: {good} measured, {rest} predicted only, in {seconds:.0f} s.",
    ),
    "compare_name_chunks": ("v={count}", "v={count}"),
    "compare_name_pieces": ("M={count}", "M={count}"),
    "compare_caption": (
        "{name} · {source} · T = {slots} 格 · 气泡占比 {percent:.1f}%（÷T）",
        "{name} · {source} · T = {slots} slots · bubble {percent:.1f}% of T",
    ),
    "compare_overrun": ("{count} 个操作超时，不可信", "{count} overruns: not to be trusted"),
    "compare_late": ("有操作晚了 {ms:.0f} 毫秒", "an op {ms:.0f} ms late"),
    "compare_not_compared": (
        "梯度是否与不切分一致：尚未比较（需训练）。",
        "Gradients against the uncut model's: not compared yet (train).",
    ),
    "compare_refused": ("只有预测：{why}", "Predicted only: {why}"),
    "compare_different": (
        "梯度不一致：相对误差最大为 {difference}",
        "Gradients differ from the uncut model's: relative difference up to {difference}",
    ),
    "compare_source_predicted": (
        "预测（仿真）：什么也没有运行 · {devices} 个设备，总计算量相同",
        "Predicted: nothing ran · {devices} devices, the same total work for all",
    ),
    "compare_source_measured": (
        "实测：每个调度真实训练同一小批次（{samples} 个样本）· {on}",
        "Measured: each really trained on the same {samples} samples · {on}",
    ),
    "compare_col_time": ("总时间 T（格）", "Makespan T (slots)"),
    "compare_col_bubble": ("气泡 ÷ T（屏障）", "Bubble / T (barrier)"),
    "compare_col_overhead": ("气泡 ÷ 理想时间", "Bubble / ideal"),
    "compare_col_barrier": ("屏障气泡（格）", "Barrier bubble (slots)"),
    "compare_col_span": ("跨度气泡（格）", "Span bubble (slots)"),
    "compare_col_peak": ("激活峰值", "Peak kept"),
    "compare_col_pairs": ("在途峰值（阶段，微批次）", "Peak (stage, micro-batch)"),
    "compare_col_messages": ("消息数", "Messages"),
    "compare_col_copies": ("参数份数", "Param. copies"),
    "compare_col_difference": ("梯度相对误差", "Gradient rel. diff."),
    "compare_closed": ("闭式", "closed"),
    "compare_predicted": ("预测", "pred."),
    "compare_measured": ("实测", "meas."),
    "compare_two_bubbles": (
        "{name} 的两种气泡不同。屏障：T - 忙碌时间，平均每设备 {barrier} 格。跨度（Zero Bubble 论文的代价）：设备自己首个到末个操作之间的空闲，"
        "最大 {span} 格。优化器要等所有设备时，按屏障算。",
        "{name}'s two bubbles differ. Barrier: T - busy, {barrier} slots a device on average. Span (Zero Bubble's cost): "
        "idle between a device's own first and last op, {span} slots at most. With an optimizer step that waits for "
        "all devices, the barrier counts.",
    ),
    "compare_two_bases": (
        "分母也有两种：气泡 ÷ T 是 GPipe 的 (K-1)/(M+K-1)，气泡 ÷ 理想时间是 Megatron-LM 的 (K-1)/M；空闲时间是同一个。",
        "Denominators differ too: bubble / T is GPipe's (K-1)/(M+K-1), bubble / ideal is Megatron-LM's (K-1)/M; the idle "
        "time is the same.",
    ),
    "compare_memory_unit": (
        "激活峰值的单位：一个设备的全部阶段（模型的 1/K）为当前 M 的一个微批次保留的激活。1/v 的阶段计 1/v；重计算的在重算前只留输入，计 0.1。",
        "Peak kept counts one device's whole share (1/K) of the model for one micro-batch of the knobs' M as 1; a stage of "
        "1/v counts 1/v; what is recomputed keeps its input, 0.1, until then.",
    ),
    "compare_fused": (
        "DualPipe 的前向与反向重叠（F&B）这里没有：F&B = F + B，重叠的收益不在图里。",
        "DualPipe's overlapped forward and backward isn't modelled (F&B = F + B), so that gain isn't shown.",
    ),
    "compare_tried": (
        "激活峰值不超过 {cap}：共试 {tried} 种组合（M = {pieces}{chunks}{policies}）；{over} 种超出，{refused} 种无法构造；"
        "其余各调度取最快的。",
        "Peak kept at most {cap}: {tried} combinations tried (M = {pieces}{chunks}{policies}); {over} over the cap, "
        "{refused} can't be built; of the rest the fastest of each schedule.",
    ),
    "compare_tried_chunks": ("，v = {chunks}", ", v = {chunks}"),
    "compare_tried_policies": ("，{policies}", ", {policies}"),
    "compare_finest": (
        "没有单个操作的开销时，M 总是越大越快；请设一个大于 0 的开销。",
        "Without an overhead an op, the largest M always wins; set one above 0.",
    ),
    "compare_over_cap": (
        "{name}：激活峰值最小为 {least}，超出上限 {cap}",
        "{name}: peak kept is at least {least}, over the cap of {cap}",
    ),
}
