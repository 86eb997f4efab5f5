"""Icicles of stacks: each frame below the one that calls it, as wide as the task seconds in it.

A picture is a plain SVG that works alone. `icicle.js` makes it larger where one clicks, and searches it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from harness.model.profile import Stack
from harness.present import quantities
from harness.words import shorten, visible

WIDTH_PX, ROW_PX, TEXT_PX = 1000.0, 17, 11
MIN_SHARE = 0.005
"""Frames below this share of the whole are put together, beside each other."""
MAX_FRAMES = 400
"""If there are more, frames below a larger share are put together, so that a page stays small."""
_CHARACTER_PX = 6.2
_MIN_TEXT_PX = 24.0


@dataclass
class _Frame:
    """A frame and those that it calls, with the seconds of all below; `names` has several in a row."""

    names: list[str]
    stack: Stack
    before_s: float = 0.0
    after_s: float = 0.0
    calls: "dict[str, _Frame]" = field(default_factory=dict)

    @property
    def width_s(self) -> float:
        """What the frame is as wide as: at least as much as those that it calls together."""
        return max(self.before_s, self.after_s, sum(call.width_s for call in self.calls.values()))


def icicle(weights: Mapping[Stack, float], colour: Callable[[Stack], str]) -> str:
    """Draw the seconds of stacks; `colour` returns the colour of a frame by its stack."""

    def title(frame: _Frame) -> str:
        return f"{quantities.time_text(frame.after_s)}: {_names(frame)}"

    return _svg(_tree(weights, {}), lambda frame: colour(frame.stack), title)


def difference(before: Mapping[Stack, float], after: Mapping[Stack, float]) -> str:
    """Draw the seconds of stacks before and after a change: more is warm, less is cool."""
    root = _tree(after, before)
    whole_s = root.width_s or 1.0

    def colour(frame: _Frame) -> str:
        share = (frame.after_s - frame.before_s) / whole_s
        for limit, level in ((0.1, 3), (0.03, 2), (0.005, 1)):
            if abs(share) >= limit:
                return f"var(--{'warm' if share > 0 else 'cool'}-{level})"
        return "var(--faint)"

    def title(frame: _Frame) -> str:
        before, after = map(quantities.time_text, (frame.before_s, frame.after_s))
        change = quantities.signed_time(frame.after_s - frame.before_s)
        return f"{change} ({before} before, {after} after): {_names(frame)}"

    return _svg(root, colour, title)


def _tree(after: Mapping[Stack, float], before: Mapping[Stack, float]) -> _Frame:
    root = _Frame(["all tasks"], ())
    for weights, side in ((before, "before_s"), (after, "after_s")):
        for stack, seconds in weights.items():
            frame = root
            setattr(frame, side, getattr(frame, side) + seconds)
            for depth, name in enumerate(stack, 1):
                frame = frame.calls.setdefault(name, _Frame([name], stack[:depth]))
                setattr(frame, side, getattr(frame, side) + seconds)
    least = MIN_SHARE
    while _count(root, root.width_s * least) > MAX_FRAMES:
        least *= 1.5
    _put_together(root, root.width_s * least, least)
    return root


def _count(frame: _Frame, least_s: float) -> int:
    """Return how many frames are as wide as that; a frame that only calls another counts with it."""
    wide = [call for call in frame.calls.values() if call.width_s >= least_s]
    is_row = len(wide) == 1 and len(frame.calls) == 1
    return (0 if is_row else 1) + sum(_count(call, least_s) for call in wide)


def _put_together(frame: _Frame, least_s: float, least: float) -> None:
    while frame.stack and len(frame.calls) == 1:
        [only] = frame.calls.values()
        if (only.before_s, only.after_s) != (frame.before_s, frame.after_s):
            break
        frame.names += only.names
        frame.stack, frame.calls = only.stack, only.calls
    small = [name for name, call in frame.calls.items() if call.width_s < least_s]
    if small:
        calls = [frame.calls.pop(name) for name in small]
        both = (sum(call.before_s for call in calls), sum(call.after_s for call in calls))
        frame.calls[""] = _Frame([f"less than {least:.1%} each"], frame.stack, *both)
    for call in frame.calls.values():
        _put_together(call, least_s, least)


def _svg(root: _Frame, colour: Callable[[_Frame], str], title: Callable[[_Frame], str]) -> str:
    placed = list(_placed(root, 0.0, WIDTH_PX, 0))
    height = (max(depth for *_, depth in placed) + 1) * ROW_PX
    frames = "".join(
        _element(frame, x, width, depth, colour(frame), title(frame))
        for frame, x, width, depth in placed
    )
    return (
        f'<svg class="icicle" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX:g} {height}" '
        f'width="{WIDTH_PX:g}" height="{height}" font-size="{TEXT_PX}">{frames}</svg>'
    )


def _placed(
    frame: _Frame, x: float, width: float, depth: int
) -> Iterator[tuple[_Frame, float, float, int]]:
    yield frame, x, width, depth
    scale = width / frame.width_s if frame.width_s else 0.0
    for call in sorted(frame.calls.values(), key=lambda call: (-call.width_s, call.names)):
        yield from _placed(call, x, call.width_s * scale, depth + 1)
        x += call.width_s * scale


def _element(frame: _Frame, x: float, width: float, depth: int, fill: str, title: str) -> str:
    last = visible(frame.names[-1])
    label = ".".join(last.split(".")[-2:])
    more = f" (+{len(frame.names) - 1})" if len(frame.names) > 1 else ""
    room = int((width - 4) / _CHARACTER_PX)
    shown = shorten(label + more, room) if width >= _MIN_TEXT_PX else ""
    y = depth * ROW_PX
    text = f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>' if shown else ""
    return (
        f'<g data-label="{escape(label + more)}"><title>{escape(title)}</title>'
        f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.1):.1f}" height="{ROW_PX - 1}" fill="{fill}"/>'
        f"{text}</g>"
    )


def _names(frame: _Frame) -> str:
    names = [visible(name) for name in frame.names]
    if len(names) > 6:  # noqa: PLR2004  a tooltip that can be read
        names = [*names[:2], f"({len(names) - 5} more)", *names[-3:]]
    return ", ".join(names)
