"""How the room looks: one style sheet, sized for a 1280 x 720 projector (595 pixels inside a browser's window)."""

WIDTH = 1180  # pixels of the panel; its pictures are as wide
ROW = 24  # pixels of a device's row, with four devices
ROWS = 110  # pixels of a grid's rows at most; five devices and more share them

STYLE = f"""<style>
.pipekit-room {{ --jp-widgets-font-size: 18px; --jp-widgets-inline-height: 30px; width: {WIDTH}px; max-width: 100%;
  font-size: 18px; line-height: 1.3; overflow: hidden; padding: 0 2px; box-sizing: border-box; }}
.pipekit-room.pipekit-normal {{ --jp-widgets-font-size: 15px; font-size: 15px; }}
.pipekit-room > * {{ flex: none; }}
.pipekit-room .widget-hbox, .pipekit-room .widget-vbox {{ overflow: visible; }}
.pipekit-room .widget-html, .pipekit-room .jupyter-widgets {{ margin: 0 2px; }}
.pipekit-room .widget-html {{ height: auto; min-height: 0; }}
.pipekit-room .widget-html-content, .pipekit-room .widget-html > .widget-html-content {{
  font-size: inherit; line-height: 1.3; }}
.pipekit-room button, .pipekit-room select, .pipekit-room input {{ font-size: inherit; height: 30px; line-height: 28px; }}
.pipekit-room button {{ width: auto; padding: 0 9px; }}
.pipekit-room .pipekit-stepper button {{ padding: 0 6px; }}
.pipekit-room .widget-play {{ width: auto; }}
.pipekit-room .widget-play button {{ width: 44px; }}
.pipekit-room .widget-checkbox, .pipekit-room .widget-label-basic {{ display: flex; align-items: center; gap: 4px; }}
.pipekit-room :is(button, select, input, [tabindex]):focus-visible {{
  outline: 3px solid #D55E00 !important; outline-offset: 1px; }}
.pipekit-room button.mod-primary {{ background: #005A8C; color: white; }}
.pipekit-room :is(button, select, input):disabled {{ opacity: 1 !important; color: #666; background-color: #f2f2f2; }}
.pipekit-room input[type=number], .pipekit-room input[type=text] {{ text-align: center; }}
.pipekit-room img {{ max-width: 100%; height: auto; flex: none; align-self: flex-start; margin: 0; display: block; }}
.pipekit-room .pipekit-line {{ align-items: center; flex-flow: row wrap; gap: 2px 4px; min-height: 33px; }}
.pipekit-room > .pipekit-line:last-child {{ min-height: 0; }}
.pipekit-room .pipekit-line > * {{ flex: none; max-width: 100%; }}
.pipekit-room .pipekit-talk {{ min-height: 34px; justify-content: center; }}
.pipekit-room .pipekit-ends {{ justify-content: space-between; }}
.pipekit-room .pipekit-stage {{ position: relative; }}
.pipekit-room .pipekit-stage > .widget-html {{ position: absolute; inset: 0; margin: 0; width: 100%; height: 100%;
  pointer-events: none; }}
.pipekit-room .pipekit-stage > .widget-html > .widget-html-content {{ position: absolute; inset: 0; }}
.pipekit-room .pipekit-idle {{ position: absolute; pointer-events: auto; }}
.pipekit-room .pipekit-idle:is(:hover, :focus) {{ background: rgba(0, 0, 0, 0.12); z-index: 2; }}
.pipekit-room .pipekit-idle:is(:hover, :focus)::after {{ content: attr(data-why); position: absolute; top: 100%; left: 0;
  background: #1a1a1a; color: white; padding: 3px 9px; white-space: nowrap; font-size: 17px; z-index: 3; }}
.pipekit-room .pipekit-idle.pipekit-low:is(:hover, :focus)::after {{ top: auto; bottom: 100%; }}
.pipekit-room .pipekit-idle.pipekit-far:is(:hover, :focus)::after {{ left: auto; right: 0; }}
.pipekit-room .pipekit-figures {{ border-collapse: collapse; }}
.pipekit-room .pipekit-figures :is(th, td) {{ text-align: right; padding: 0 18px 0 0; font-weight: normal; }}
.pipekit-room .pipekit-figures td:first-child {{ text-align: left; }}
.pipekit-room .pipekit-figures td:last-child {{ font-weight: bold; }}
.pipekit-room .pipekit-figures .pipekit-big {{ font-size: 26px; font-weight: bold; }}
.pipekit-room .pipekit-row {{ display: flex; gap: 2px 14px; align-items: baseline; flex-wrap: wrap;
  border-top: 1px solid #ccc; border-bottom: 1px solid #ccc; padding: 1px 0; }}
.pipekit-room .pipekit-row b {{ font-size: 26px; }}
.pipekit-room .pipekit-warn {{ background: #FFE9B8; color: #3D2B00; }}
.pipekit-room .pipekit-drawer {{ border: 1px solid #bbb; padding: 4px 6px; }}
.pipekit-room .pipekit-ask {{ background: #FFF6D6; color: #1a1a1a; }}
.pipekit-room .pipekit-small {{ font-size: 15px; }}
.pipekit-room.pipekit-wide {{ position: fixed; inset: 0; z-index: 100000; width: 100vw; max-width: none; height: 100vh;
  overflow: auto; background: white; color: #1a1a1a; padding: 2px max(4px, calc((100vw - {WIDTH}px) / 2)); }}
.pipekit-wide:has(> .pipekit-tall:not([style*="none"])):has(> .pipekit-talk > .pipekit-progress[style*="none"]) > .pipekit-stage {{
  display: none; }}
.pipekit-wide:has(> .pipekit-tall:not([style*="none"])) > .pipekit-talk {{ min-height: 0; }}
.lm-Widget:has(.pipekit-wide) {{ contain: none !important; content-visibility: visible !important; z-index: 100000 !important; }}
body:has(.pipekit-wide) > :not(.jp-Dialog) {{ visibility: hidden; }}
.pipekit-room.pipekit-wide {{ visibility: visible; }}
body:has(.pipekit-wide) > .jp-Dialog {{ z-index: 200000; }}
</style>"""
