"""The translators' part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "words_unseen": (
        "{number}：训练用的例子里，哪种语言都没有这个数",
        "{number}: no language had this number in training",
    ),
    "words_maybe_seen": (
        "{number}：训练用的例子里，有的语言可能有这个数",
        "{number}: some languages may have had this number in training",
    ),
    "words_language": ("语言", "language"),
    "words_examples": ("例子（个）", "examples"),
    "words_alone": ("各学各的（最少–最多）", "one model each (least–most)"),
    "words_shared": ("一个模型学全部", "one for all"),
    "words_gain": ("多对几个百分点（95% 区间）", "gain, points (95% interval)"),
    "words_rich": ("例子多的语言，平均", "languages with many examples, mean"),
    "words_poor": ("例子少的语言，平均", "languages with few examples, mean"),
    "words_settings": (
        "{held_out} 个没见过的数，一个字母都不错才算对。{seeds} 个随机种子；每种语言练 {steps} 次、每次 {batch} 个例子，"
        "一个模型学 {languages} 种，就练 {languages} 倍的次数：计算量相同。{date}，{machine}，torch {torch}，共 {minutes:.0f} 分钟",
        "{held_out} unseen numbers; right means without one wrong letter. {seeds} seeds; {steps} steps of {batch} for each "
        "language, and {languages} times as many for one model of all {languages}: equal compute. "
        "{date}, {machine}, torch {torch}, {minutes:.0f} minutes in all",
    ),
    "words_machine": ("{system}，{cores} 个 CPU 核，一个线程", "{system}, {cores} cores, one thread"),
    "words_trained": (
        "{done}/{total}  {name}，种子 {seed}  已用 {seconds:.0f} 秒",
        "{done} of {total}  {name}, seed {seed}  after {seconds:.0f} s",
    ),
}
