"""The language giant: the translator."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 巨人（二）：一个模型，许多语言

**学会什么：** 计算量一样多，一个模型学 16 种语言，和一种语言一个模型，说得出谁写得对；例子很少的语言又会怎样。**约 15 分钟。**

GPipe 论文的第二个巨人是翻译用的 Transformer：60 亿个旋钮、128 层，一个模型学 100 多种语言（Huang 等人，2018 年，arXiv 1811.06965）。
论文说，它比一种语言一个的模型译得更好。这样的巨人教室里训练不了，但可以训练它的小亲戚：同样有编码器和解码器，约 26 万个旋钮、6 层，把 0 到 999 的数写成 16 种语言的字。

先看看它会什么。365 这个数，训练用的例子里哪种语言都没有：
""",
        """
# Giants (2): one model, many languages

**You will be able to:** say which writes better with the same amount of computing, one model for 16 languages or one for each, and
what becomes of a language with only a few examples. **About 15 minutes.**

The second giant of GPipe's paper is a Transformer that translates: 6 billion knobs, 128 layers, one model for over 100
languages (Huang and others, 2018, arXiv 1811.06965), which does better, the paper says, than models of one language each. Such a giant can't
be trained in a classroom, but a small relative can: also an encoder and a decoder, with about 260 thousand knobs in 6
layers. It writes the numbers from 0 to 999 as words in 16 languages.

First see what it can do. It didn't meet 365 in training, in any language:
""",
    ),
    code(
        """
from pipekit.learn import giants

model = giants.saved_translator()
giants.translate(model, 365, lang="LANG")
"""
    ),
    text(
        """
**试一试：** 把 365 换成别的数（0 到 999），再运行。找一个它写错的数。错在哪些语言？（哪一行是方块，就是这台电脑没有那种文字的字体。）

## 只有 40 个例子

葡萄牙语只有 40 个例子可学，别的语言，比如西班牙语，有 500 个。有一个模型**只学葡萄牙语**，就靠这 40 个例子。
考 200 个没见过的数，一个字母都不错才算对。

**先猜：** 只学葡萄牙语的模型能写对百分之几？16 种语言一起学的模型，葡萄牙语能写对百分之几？
""",
        """
**Try it:** put another number (0 to 999) in place of 365 and run it again. Find one that it gets wrong. In which languages?
(Boxes in a row: this computer has no font for that script.)

## Only 40 examples

Portuguese has only 40 examples to learn from; others, Spanish for one, have 500. One model learnt **Portuguese alone**, from
these 40. The exam: 200 numbers that were never seen; right means without one wrong letter.

**Guess first:** what share does the model of Portuguese alone write right? And what share of the Portuguese does the one
that learnt all 16 languages?
""",
    ),
    code(
        """
alone = giants.written_right(giants.saved_translator("pt"), "pt")
shared = giants.written_right(model, "pt")
print(f"{alone:.1%} {shared:.1%}")
assert shared > alone + 0.3
""",
        hidden=True,
    ),
    text(
        """
## 比得公平吗？

公平就是计算量一样：所有的模型大小相同，每次看的例子一样多。一种语言一个的模型各练 300 次，学全部的练 16 × 300 = 4800 次，
所以每种语言被看的次数也一样。随机种子换了 5 个，每次例子和开头的旋钮都重抽，全部重新训练，一共 85 个模型。

**先猜：** 例子多的语言，一起学会不会互相捣乱，反而变差？例子少的呢？
""",
        """
## Is that fair?

Fair means the same amount of computing: all models are of one size and see equally many examples a step. Each model of one
language takes 300 steps, the one of all takes 16 x 300 = 4800, so every language is looked at equally often. All of it
was trained anew with 5 seeds, each drawing other examples and other first knobs: 85 models.

**Guess first:** do languages with many examples disturb each other, and get worse together? And those with few?
""",
    ),
    code(
        """
compared = giants.compared_languages(lang="LANG")
compared
""",
        hidden=True,
    ),
    code(
        """
poor = [score for score in compared.scores if not score.language.rich]
assert all(score.sure == 1 and score.gain > 0.25 for score in poor)
assert [score.language.code for score in compared.scores if score.sure < 1] == ["ja"]
"""
    ),
    text(
        """
## 结果

例子少的 6 种语言差得最远：各学各的平均只对 11%，一起学平均对 68%，每一种都明显更好。例子多的 10 种也没有互相捣乱：平均从 94% 到
99%；西班牙语多对 16 个百分点，日语本来就几乎全对，看不出差别。没有一种变差。

为什么？“几百几十几”的道理，各种语言差不多。一起学的模型从例子多的语言学会了道理，例子少的语言只要再学几个词。乌克兰语像俄语，
得益最大（多对 80 个百分点）；可是荷兰语像德语，得益却最小（36 个）：像不像，解释不了全部。

**这说明什么，不说明什么：** 只写到 999，模型很小，所以这不是论文里的实验，只是同样的问题。没有给每种语言单独挑最合适的训练次数。
葡萄牙语的模型就算练 500 次也只对 4%：缺的是例子，不是练习的次数。

## 切开来训练

这个模型也能切：两层之间传的是**一对**东西，编码器读出的数，和已经写出的字母。切成 4 段、4 小份，从头真的训练 10 次。
**先猜：** 每一小份的字母有多有少，加起来还和不切时一样吗？
""",
        """
## What came out

The 6 languages with few examples are furthest apart: 11 % right on average by the models of one language, 68 % by the one of
all, and each of them clearly better. The 10 with many don't disturb each other either: from 94 % to 99 % on average, Spanish by
16 points; Japanese was almost all right before, and shows no difference. None got worse.

Why? Hundreds, tens and ones are much the same idea everywhere. The model of all learns the idea from the languages with many
examples, and of the others only a few words more. Ukrainian is like Russian and gains most (80 points); but Dutch is like
German and gains least (36): likeness doesn't explain it all.

**What it says, and what it doesn't:** numbers stop at 999 and the model is tiny; this isn't the paper's experiment, only its
question. Nobody looked for the best number of steps for each language. With 500 steps the Portuguese model would still get only
4 % right: it lacks examples, not steps.

## Train it cut

This model can be cut, too: what goes from layer to layer is a **pair**, the number as the encoder read it and the letters so
far. In 4 stages and 4 pieces it now really trains 10 steps from the start. **Guess first:** some pieces have more letters than
others; do the changes still add up to the uncut model's?
""",
    ),
    code(
        """
training = giants.train_cut_translator(num_stages=4, num_micro_batches=4, steps=10)
print(training.said(lang="LANG"))
assert training.same and training.losses[-1] < training.losses[0] - 1
"""
    ),
    code(
        """
from pipekit import show

show.grid_chart([training.timeline], lang="LANG")
"""
    ),
    text(
        """
一样：每一小份按它有几个字母来算分量。

## 只改一样

写上 `schedule=plan.one_f_one_b`（先 `from pipekit import plan`），或者切成 6 段，再训练：结果还一样吗？
把全部 85 个模型从头训练一遍（约 10 分钟）：`python -m pipekit giants languages --full`，停下来再运行，会接着练。
""",
        """
They do: each piece weighs as much as it has letters.

## Change one thing

Add `schedule=plan.one_f_one_b` (after `from pipekit import plan`), or cut it in 6, and train again: is the
result still the same? All 85 models from the start (about 10 minutes): `python -m pipekit giants languages --full`; stopped,
it goes on where it was.
""",
    ),
]

TEACHER_ZH = """
# 给老师：巨人（二）

时间（15 分钟）：看 365、试别的数 3 分钟；猜葡萄牙语、看答案 3 分钟；讲公平、再猜、看表 5 分钟；切开训练 3 分钟；只改一样 1 分钟（可以带回家）。

答案
* 葡萄牙语（种子 0）：只学它自己的对 2%，一起学的对 73.5%（表里是 5 个种子的平均）。
* 一起学没有让哪一种语言变差；例子越少，得益越大。
* 切开训练，每个旋钮要改的量和不切时只差小数的零头；换成 1F1B、切成 6 段也一样。

简化了什么
* 论文的巨人翻译句子，用的是网上收集的大量译文，语言之间例子多少差几千倍。这里只有 1000 个数，16 种语言。
* “计算量相同”：模型同样大，训练次数 × 每次的例子数，两边一样；各学各的一边，旋钮加起来是 16 倍。没有为哪一边单独挑学习率和训练次数。
* 区间是 5 个种子的差的 95% t 区间：说的是重抽例子、重新开头会差多少，不是换一批考题会差多少。
* 考的 200 个数，训练用的例子里哪种语言都没有；例子和开头的旋钮每个种子重抽。
* 词表来自 num2words 0.5.14 和 cn2an 0.5.24。写错的已经去掉：阿拉伯语 200，荷兰语 101、201……901；意大利语整个没有用（118 写错）。
  阿拉伯语的 و 按库的写法前后空一格。
* 编码器读到的总是 4 个符号：哪种语言，百位、十位、个位。

常见的错误想法
* “它懂这些语言”：它只会写数，别的一个词也不会。
* “样样都学，样样稀松”：请看表，例子多的语言也没有变差。换成别的任务、更小的模型，可能会，论文里也提到大模型才装得下。
* “多练几次，葡萄牙语自己也能学会”：练 500 次还是只对 4%，缺的是例子。
"""

TEACHER_EN = """
# For the teacher: giants (2)

Time (15 minutes): 365 and other numbers 3; guess Portuguese, see 3; what is fair, guess again, the table 5; train it cut 3;
change one thing 1 (or at home).

Answers
* Portuguese (seed 0): the one that learnt it alone gets 2 % right, the one that learnt all 73.5 % (the table has means of 5
  seeds).
* No language gets worse together; those with few examples gain most.
* Cut, what each knob is changed by is the uncut model's but for rounding; with 1F1B or 6 stages, too.

What is simplified
* The paper's giant translates sentences, from very many translations found on the web; some languages have thousands of
  times as many as others. Here are 1000 numbers and 16 languages.
* "Equal compute": models of one size, steps x examples a step equal on both sides; the single models have 16 times as many
  knobs in all. Learning rate and steps were not tuned for either side.
* Intervals are 95 % t intervals over 5 seeds' differences: what other examples and another start would change, not other
  exam questions.
* The 200 numbers of the exam were held back in all languages; examples and first knobs are drawn anew by each seed.
* The words come from num2words 0.5.14 and cn2an 0.5.24. What they write wrongly was left out: Arabic 200, Dutch 101, 201 to
  901, and all of Italian (118). Arabic's "wa" stands between spaces, as the library has it.
* The encoder always reads 4 signs: which language, hundreds, tens, ones.

Likely wrong ideas
* "It knows these languages": it writes numbers, and not one other word.
* "Who learns everything learns nothing well": look at the table; no rich language got worse. On other tasks and with smaller
  models they may.
* "With more steps Portuguese alone would get there": 500 steps give 4 %. It lacks examples.
"""

PAGE = Page(
    title=("巨人（二）：许多语言", "Giants (2): many languages"),
    question=(
        "一个模型学 16 种语言，比一种语言一个好吗？",
        "One model for 16 languages, or one for each?",
    ),
    minutes=15,
    rows=(12,),
    runs=(
        "切成 4 段的翻译模型从头训练 10 次；存档真的写数",
        "a translator cut in 4 trains 10 steps from the start; a saved one writes",
    ),
    cells=CELLS,
    teacher=(TEACHER_ZH, TEACHER_EN),
)
