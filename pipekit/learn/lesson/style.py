"""How a lesson looks: the room's style sheet, and what its stops add to it."""

from pipekit.learn.controlroom.style import STYLE as ROOM

TOUCH = 44  # pixels: a finger on a board
# Panels within bring the room's style sheet once more, later in the page: what changes it here is more specific.
LESSON = f"""<style>
.pipekit-lesson {{ gap: 0; }}
.pipekit-room.pipekit-lesson.pipekit-wide {{ padding-top: 0; padding-bottom: 0; }}
.pipekit-lesson > .widget-html:first-child {{ display: none; }}
.pipekit-lesson .pipekit-stop.pipekit-stop, .pipekit-lesson .pipekit-stop .pipekit-room {{ margin: 0; padding: 0; width: 100%; }}
.pipekit-lesson .pipekit-stop .pipekit-room {{ overflow: hidden; }}
.pipekit-lesson .pipekit-stop .pipekit-game > * {{ margin-bottom: 0; }}
.pipekit-lesson .pipekit-room:has(> .pipekit-tall:not([style*="none"])):has(> .pipekit-talk > .pipekit-progress[style*="none"]) > .pipekit-stage {{
  display: none; }}
.pipekit-parts .widget-toggle-button {{ min-height: {TOUCH}px; }}
.pipekit-lesson .pipekit-parts button, .pipekit-real button, .pipekit-real input {{
  height: {TOUCH}px !important; min-width: {TOUCH}px; line-height: 40px; }}
.pipekit-real {{ gap: 4px; }}
.pipekit-room .pipekit-real .pipekit-result {{ flex-wrap: nowrap; align-items: flex-start; justify-content: space-between; }}
.pipekit-room .pipekit-real .pipekit-result > * {{ flex: 0 1 auto; }}
</style>"""
STYLE = ROOM + LESSON
# A real run brings its table's looks along: it is also shown alone, beside a notebook's text.
TABLE = """<style>
.pipekit-real-table { border-collapse: collapse; }
.pipekit-real-table :is(th, td) { text-align: right; padding: 5px 9px 5px 0; font-size: 18px; font-weight: normal; }
.pipekit-real-table :is(th[scope=row], th[scope=col]:first-child) { text-align: left; }
.pipekit-real-table td { font-weight: bold; }
.pipekit-real-table tr + tr { border-top: 1px solid #ccc; }
</style>"""
