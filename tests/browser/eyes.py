"""What can be measured on a page and in its pictures: boxes, overlaps, contrast, focus, cells by colour."""

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

BLUE, GREY = (0, 114, 178), (236, 236, 236)  # a cell of forward work, an idle one

# Each visible thing that is looked at or pressed, by what it says, as [words, left, top, right, bottom]; and what lies
# over another thing, which none should.
SEE = """
const panel = document.querySelector('.pipekit-room');
const seen = selector => [...panel.querySelectorAll(selector)].filter(each =>
    each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().height > 0);
const LEAVES = 'button, select, input, img, .noUi-target, .progress, .widget-html-content > *, .widget-html-content > b';
const name = each => (each.innerText || each.title || each.tagName + '.' + each.className).slice(0, 40);
const ownWords = each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
"""

BOXES = f"""() => {{ {SEE}
    return seen('*').filter(each => each.tagName !== 'STYLE' && each.getBoundingClientRect().width > 0).map(each => {{
        const box = each.getBoundingClientRect();
        return [name(each), box.left, box.top, box.right, box.bottom];
    }});
}}"""

SCROLLS = """() => [document.documentElement, document.querySelector('.pipekit-room')]
    .filter(each => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth)
    .map(each => [each.className, each.scrollWidth, each.clientWidth, each.scrollHeight, each.clientHeight])"""

OVERLAPS = f"""() => {{ {SEE}
    const leaves = seen(LEAVES).filter(each => !each.matches('.pipekit-idle, .noUi-target *'));
    const found = [];
    leaves.forEach((one, index) => leaves.slice(index + 1).forEach(other => {{
        if (one.contains(other) || other.contains(one)) return;
        const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 1) found.push([name(one), name(other), Math.round(wide), Math.round(high)]);
    }}));
    return found;
}}"""

# What cannot be brought into the window by scrolling, or is wider than it.
OUT_OF_REACH = f"""() => {{ {SEE}
    const lost = seen(LEAVES).filter(each => {{
        each.scrollIntoView({{block: 'nearest', inline: 'nearest'}});
        const box = each.getBoundingClientRect();
        return box.left < -1 || box.right > innerWidth + 1 || box.bottom < 1 || box.top > innerHeight - 1;
    }}).map(name);
    panel.scrollTo(0, 0);
    return lost;
}}"""

SMALL_WORDS = f"""smallest => {{ {SEE}
    return seen('*').filter(each => each.tagName !== 'STYLE' && (ownWords(each) || each.matches('select, input')))
        .map(each => [name(each), parseFloat(getComputedStyle(each).fontSize)])
        .filter(([words, size]) => size < smallest);
}}"""

# Words whose contrast with what lies under them is below a number (WCAG's formula), opacity counted in.
FAINT = f"""least => {{ {SEE}
    const rgba = colour => {{
        const numbers = colour.match(/[\\d.]+/g).map(Number);
        const unit = colour.startsWith('color(') ? 255 : 1;
        return [numbers[0] * unit, numbers[1] * unit, numbers[2] * unit, numbers[3] ?? 1];
    }};
    const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
    const ground = each => {{
        if (!each) return [255, 255, 255, 1];
        const own = rgba(getComputedStyle(each).backgroundColor);
        return own[3] === 1 ? own : over(own, ground(each.parentElement));
    }};
    const opacity = each => each ? parseFloat(getComputedStyle(each).opacity) * opacity(each.parentElement) : 1;
    const light = colour => colour.slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    return seen('*').filter(each => each.tagName !== 'STYLE' && (ownWords(each) || each.matches('select, input')))
        .map(each => {{
            const under = ground(each), behind = ground(each.parentElement);
            const faded = [...under.slice(0, 3), opacity(each)], ink = rgba(getComputedStyle(each).color);
            const paper = over(faded, behind);
            const words = over([...over(ink, under).slice(0, 3), opacity(each)], behind);
            const [high, low] = [light(paper), light(words)].sort((a, b) => b - a);
            return [name(each), Math.round(100 * (high + 0.05) / (low + 0.05)) / 100];
        }}).filter(([words, contrast]) => contrast < least);
}}"""

# What has the focus: [what it says, whether it's on the panel, whether it is marked and inside the window].
FOCUS = """() => {
    const each = document.activeElement, style = getComputedStyle(each), box = each.getBoundingClientRect();
    const marked = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2);
    const inside = box.top >= -1 && box.bottom <= innerHeight + 1 && box.right > 0;
    const words = each.tagName === 'SELECT' ? each.title : each.innerText || each.title || each.ariaLabel || '';
    return [words.trim() || each.className || each.tagName, each.closest('.pipekit-room') !== null, marked && inside];
}"""

# What is called "null", and what is seen of pictures without any words.
NULL_TITLES = """() => [...document.querySelectorAll('.pipekit-room [title=null], .pipekit-room [aria-label=null]'),
    ...document.querySelectorAll('.jp-OutputArea img:is(:not([alt]), [alt=""]):not([hidden])')]
    .map(each => each.outerHTML.slice(0, 200))"""

# Milliseconds from a key to the picture that it makes, one number a key, in `window.latencies`.
WATCH_PICTURES = """() => {
    const picture = document.querySelector('.pipekit-room img');
    window.latencies = [];
    let pressed = null;
    document.addEventListener('keydown', () => { pressed = performance.now(); }, true);
    new MutationObserver(async () => {
        if (pressed === null) return;
        const began = pressed;
        pressed = null;
        await picture.decode();
        window.latencies.push(performance.now() - began);
    }).observe(picture, {attributes: true, attributeFilter: ['src']});
}"""

# From the press of a button to a status with these words, by the page's own clock.
WATCH_STATUS = """words => {
    const panel = document.querySelector('.pipekit-room');
    window.answered = null;
    let pressed = null;
    document.addEventListener('click', () => { pressed = performance.now(); }, {capture: true, once: true});
    const watching = new MutationObserver(() => {
        const status = panel.querySelector('[role=status]');
        if (pressed === null || !status || !status.textContent.includes(words)) return;
        window.answered = performance.now() - pressed;
        watching.disconnect();
    });
    watching.observe(panel, {subtree: true, childList: true, characterData: true});
}"""


@dataclass(frozen=True)
class Grid:
    """A grid as it was seen: how many columns its rows fill, and what is in them, a letter a cell (# busy, . idle)."""

    columns: int
    rows: list[str]

    @property
    def idle(self) -> int:
        return sum(row.count(".") for row in self.rows)


def grids(picture: bytes, num_rows: int, num_columns: int) -> list[Grid]:
    """The grids in a screenshot of the picture, from above to below, read by the colours of their cells.

    Args:
        num_rows: of one grid. num_columns: what the first grid fills; all share its axis.
    """
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)
    blue, grey = (np.abs(pixels - np.array(colour)).max(axis=2) < 12 for colour in (BLUE, GREY))
    filled = (blue | grey).mean(axis=1) > 0.25
    edges = np.flatnonzero(np.diff(np.concatenate([[False], filled, [False]]).astype(int)))
    bands = [(top, bottom) for top, bottom in zip(edges[::2], edges[1::2], strict=True) if bottom - top > 8]
    across = np.flatnonzero((blue | grey)[slice(*bands[0])].mean(axis=0) > 0.5)  # words have a grey edge
    left, width = across[0], (across[-1] + 1 - across[0]) / num_columns

    def row(top: int, bottom: int) -> str:
        return "".join(cell(top, bottom, column) for column in range(num_columns)).rstrip()

    def cell(top: int, bottom: int, column: int) -> str:
        sides = slice(round(left + (column + 0.3) * width), round(left + (column + 0.7) * width))
        shares = [colour[top:bottom, sides].mean() for colour in (blue, grey)]
        return " " if max(shares) < 0.45 else "#."[int(shares[1] > shares[0])]

    rows = [row(*band) for band in bands]
    return [
        Grid(max(map(len, rows[first : first + num_rows])), rows[first : first + num_rows])
        for first in range(0, len(rows), num_rows)
    ]
