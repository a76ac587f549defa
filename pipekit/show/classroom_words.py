"""The start page's and the class table's part of the table of words (`i18n`): (Chinese, English)."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "start_course": ("课程表", "The course"),
    "start_number": ("次序", "No."),
    "start_notebook": ("点一下就打开", "Click to open"),
    "start_question": ("要回答的问题", "The question"),
    "start_time": ("时间", "Time"),
    "start_state": ("进度", "Progress"),
    "start_minutes": ("{minutes} 分钟", "{minutes} min"),
    "start_opened": ("打开过", "opened"),
    "start_solved": ("练习：{total} 道里做对了 {solved} 道。", "Exercises: {solved} of {total} solved."),
    "start_no_course": (
        "没找到课程表（course.json）。请在 pipekit 的文件夹里打开这一页。",
        "The course (course.json) was not found: open this page inside pipekit's folder.",
    ),
    "collect_task": ("练习", "exercise"),
    "collect_tried": ("试过的人数", "tried"),
    "collect_solved": ("做对的人数", "solved"),
    "collect_attempts": ("做对时试了几次（中位数）", "tries (median)"),
    "collect_wrong": ("最常见的想法", "commonest misconception"),
    "collect_belief": ("{count} 人：{what}", "{count}: {what}"),
    "collect_learners": ("一共 {count} 位同学的成绩：", "Learners with results: {count}"),
    "collect_empty": (
        "{folder} 里没有成绩：没找到 results.jsonl。同学做过练习，他们的文件夹里才会有。",
        "No results in {folder}: there is no results.jsonl. A learner's folder has one after the first exercise.",
    ),
    "collect_no_results": (
        "{folder} 里有成绩文件，但是一行也读不出来。",
        "There are result files in {folder}, but not one line of them can be read.",
    ),
    "collect_unread": (
        "有 {files} 个文件打不开，{lines} 行读不出来；上面没有算它们。",
        "Left out, because they could not be read: files: {files}, lines: {lines}.",
    ),
    "collect_written": ("表格存到了 {file}", "Table written to {file}"),
}
