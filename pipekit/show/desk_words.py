"""Words of the home notebooks' charts: the memory bar of a desk, and the time of a step over M."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # -- pipelines side by side
    "side_chart": (
        "算出来的 · {pipelines} 条流水线，每条 {stages} 块显卡",
        "Predicted · pipelines: {pipelines}, GPUs in each: {stages}",
    ),
    "side_note": ("气泡 {bubble:.1%}", "bubble {bubble:.1%}"),
    "side_footer": (
        "干活 {work:g} 格，把要改的量加到一起 {exchange:g} 格，一共 {step:g} 格；每块显卡放{share}",
        "work {work:g} slots, adding the changes up {exchange:g}, together {step:g}; each GPU holds {share}",
    ),
    "side_part": ("模型的 {share}", "{share} of the model"),
    "side_whole": ("整个模型", "the whole model"),
    # -- the desk
    "desk_title": ("书桌放得下吗？", "Does it fit on the desk?"),
    "desk_layers": ("积木塔有几层", "Layers"),
    "desk_devices": ("显卡", "GPUs"),
    "desk_count": ("真的训练一次，数一数", "Train once and count"),
    "desk_predicted": ("算出来的", "predicted"),
    "desk_counted": ("真的训练时数出来的", "counted in a real training step"),
    "desk_chart": ("每块显卡的书桌上放了多少（{source}）", "What lies on each GPU's desk ({source})"),
    "desk_unit": ("百万字节（MB）", "million bytes (MB)"),
    "desk_giant_unit": ("十亿字节（GB）", "billion bytes (GB)"),
    "desk_parameters": ("旋钮", "parameters"),
    "desk_gradients": ("要改多少（梯度）", "gradients"),
    "desk_notes": ("怎么改的笔记（优化器）", "optimizer's notes"),
    "desk_activations": ("草稿（激活值）", "scratch paper (activations)"),
    "desk_limit": ("书桌就这么大：{size:g} {unit}", "the desk ends here: {size:g} {unit}"),
    "desk_fits": (
        "放得下：最满的书桌放了 {most:.2f} {unit}，书桌有 {size:g} {unit}。",
        "It fits: the fullest desk holds {most:.2f} {unit} of {size:g} {unit}.",
    ),
    "desk_full": (
        "放不下：显卡 {number} 要 {most:.2f} {unit}，书桌只有 {size:g} {unit}。加几块显卡，或者把塔搭矮一点。",
        "It does not fit: GPU {number} needs {most:.2f} {unit}, the desk has {size:g} {unit}. Add GPUs, or build a lower tower.",
    ),
    "desk_cut": ("显卡 {number}：第 {first} 到 {last} 层", "GPU {number}: layers {first} to {last}"),
    "desk_cut_one": ("显卡 {number}：第 {first} 层", "GPU {number}: layer {first}"),
    "desk_bar": (
        "显卡 {number}：旋钮 {parameters:.2f}，要改多少 {gradients:.2f}，笔记 {notes:.2f}，草稿 {activations:.2f}，一共 {total:.2f} {unit}",
        "GPU {number}: parameters {parameters:.2f}, gradients {gradients:.2f}, notes {notes:.2f}, scratch paper {activations:.2f}, in all {total:.2f} {unit}",
    ),
    "desk_refused": (
        "{words}（所以没有训练。）",
        "{words} (So nothing was trained.)",
    ),
    # -- the time of a step
    "fine_title": ("切成几小份最快？", "How many pieces are fastest?"),
    "fine_x": ("切成几小份（M）", "pieces (M)"),
    "fine_y": ("训练一次用几毫秒", "milliseconds a step"),
    "fine_measured": ("测到的", "measured"),
    "fine_shared": (
        "真的跑了，但处理器核不够分：不算测量",
        "ran on shared cores: no measurement",
    ),
    "fine_fitted": (
        "算出来的：(M+K-1)(α+β/M)\nα={alpha:.3g} 毫秒，β={beta:.3g} 毫秒",
        "predicted: (M+K-1)(α+β/M)\nα={alpha:.3g} ms, β={beta:.3g} ms",
    ),
    "fine_best": ("算出来 M={best:.1f} 最好", "predicted best: M={best:.1f}"),
    "fine_said": (
        "真的跑下来，M={found} 最快（{time:.1f} 毫秒）；算出来最好的是 M={best:.1f}。",
        "Really run, M={found} is the fastest ({time:.1f} ms); predicted best: M={best:.1f}.",
    ),
    "fine_said_finer": (
        "真的跑下来，M={found} 最快（{time:.1f} 毫秒）；这次看不出每一小份另外要花时间，照这样算，越细越好。",
        "Really run, M={found} is the fastest ({time:.1f} ms); these times show no extra cost of a piece: by them, the finer the better.",
    ),
}
