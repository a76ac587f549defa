"""The small relatives' part of the table of words (`i18n`): (Chinese, English), for a class and for engineers."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "giant_pictures": (
        "AmoebaNet 的小亲戚：{layers} 层，{knobs:,} 个旋钮，切成 {stages} 段（每段 {balance} 层）",
        "AmoebaNet's small relative: {layers} layers, {knobs:,} knobs, cut in {stages} stages ({balance} layers)",
    ),
    "giant_goes_on": (
        "接着 {path} 里的存档练：已经练了 {done} 遍",
        "going on from {path}: {done} rounds are done",
    ),
    "giant_epoch": (
        "第 {number}/{total} 遍  损失 {loss:.3f}  没见过的数字认对 {percent:.1f}%  已用 {seconds:.0f} 秒",
        "round {number} of {total}  loss {loss:.3f}  {percent:.1f}% of unseen digits right  after {seconds:.0f} s",
    ),
    "giant_stopped": (
        "停了：练完的 {done} 遍存在 {path} 里，再运行一次同样的命令就接着练",
        "stopped: {done} finished rounds are in {path}; the same command goes on from there",
    ),
    "giant_right": (
        "认对：切开的网络 {cut}/{total}（{percent:.1f}%），不切的网络 {whole}/{total}",
        "read right: {cut} of {total} ({percent:.1f}%) by the cut network, {whole} of {total} by the whole one",
    ),
    "giant_same": (
        "结果一样：每个旋钮要改的量，切和不切最多差{difference}",
        "the same result: what each knob is changed by differs by at most {difference}, cut and whole",
    ),
    "giant_differs": (
        "结果不一样：每个旋钮要改的量，切和不切最多差{difference}",
        "not the same result: what each knob is changed by differs by up to {difference}, cut and whole",
    ),
    "giant_saved": ("存档在 {path}", "saved in {path}"),
    "giant_written": ("写的是 {digit}", "written {digit}"),
    "giant_read": ("读成了 {digit}", "read as {digit}"),
}
