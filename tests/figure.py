"""`make figure`: draw a figure of the report into files of its own, to look at it while working on it."""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import vl_convert

from harness.cli import main
from harness.present.report.chart import standalone
from harness.present.report.figure import sections
from harness.terminal import show


def write(anchor: str, arguments: list[str], directory: Path) -> list[Path]:
    """Write the pictures of a figure as SVG and PNG; `arguments` are those of `clusterlift report`."""
    with TemporaryDirectory() as temporary:
        page = Path(temporary) / "report.html"
        if main(["report", *arguments, f"--output={page}"]):
            raise SystemExit(2)
        html = page.read_text(encoding="utf-8")
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


def anchors() -> list[str]:
    return [section.anchor for section in sections()]


if __name__ == "__main__":
    name, *report = sys.argv[1:]
    if not name:
        raise SystemExit(f"name a figure: make figure NAME={'|'.join(anchors())}")
    for file in write(name, report, Path("build")):
        show(str(file))
