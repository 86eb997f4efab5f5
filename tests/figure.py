"""`make figure`: draw a figure of the report into files of its own, to look at it while working on it."""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import vl_convert

from harness.cli import main
from harness.present.report import page
from harness.present.report.figure import sections
from harness.terminal import show


def write(anchor: str, arguments: list[str], directory: Path) -> list[Path]:
    """Write the pictures of a figure as SVG and PNG; `clusterlift report` gets the `arguments`."""
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "report.html"
        if main(["report", *arguments, f"--output={file}"]):
            raise SystemExit(2)
        html = file.read_text(encoding="utf-8")
    figure = re.search(rf'<figure id="{re.escape(anchor)}">.*?</figure>', html, re.DOTALL)
    if figure is None:
        found = ", ".join(name for name in anchors() if f'<figure id="{name}">' in html)
        raise SystemExit(f"these results have no figure {anchor!r}, but: {found}")
    directory.mkdir(exist_ok=True)
    written = []
    for number, svg in enumerate(re.findall(r"<svg.*?</svg>", figure[0], re.DOTALL), 1):
        file, picture = directory / f"{anchor}-{number}.svg", standalone(svg)
        file.write_text(picture, encoding="utf-8")
        file.with_suffix(".png").write_bytes(vl_convert.svg_to_png(picture, scale=2))
        written += [file, file.with_suffix(".png")]
    return written


def standalone(picture: str) -> str:
    """Return the SVG of a page in the colours that the page has in daylight."""
    style = (page.DIRECTORY / "style.css").read_text(encoding="utf-8")
    daylight = dict(reversed(re.findall(r"--([\w-]+): (#\w{6})", style)))
    coloured = re.sub(r"var\(--([\w-]+)\)", lambda match: daylight[match[1]], picture)
    paper = f'<rect width="100%" height="100%" fill="{daylight["paper"]}"/>'
    return re.sub("(<svg[^>]*>)", rf"\1{paper}", coloured, count=1)


def anchors() -> list[str]:
    return [section.anchor for section in sections()]


if __name__ == "__main__":
    name, *report = sys.argv[1:]
    if not name:
        raise SystemExit(f"name a figure: make figure NAME={'|'.join(anchors())}")
    for file in write(name, report, Path("build")):
        show(str(file))
