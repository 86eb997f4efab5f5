"""`make figure`: draw a figure of the report into files of its own, to look at it while working on it.

`make figure NAME=top` draws the top of the page with Chromium, as the README shows it.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import vl_convert

from harness.base.terminal import show
from harness.commands.cli import main
from harness.present.report import page
from harness.present.report.figure import sections

TOP = "top"
_CHROMIUM = "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,1180"
_END = b"\0\0\0\0IEND"


def write(anchor: str, arguments: list[str], directory: Path) -> list[Path]:
    """Write the pictures of a figure as SVG and PNG; `clusterlift report` gets the `arguments`."""
    directory.mkdir(exist_ok=True)
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "report.html"
        if main(["report", *arguments, f"--output={file}"]):
            raise SystemExit(2)
        html = file.read_text(encoding="utf-8")
        if anchor == TOP:
            return [photograph(file, digest_of_top(html), directory / "report.png")]
    figure = re.search(rf'<figure id="{re.escape(anchor)}">.*?</figure>', html, re.DOTALL)
    if figure is None:
        found = ", ".join(name for name in anchors() if f'<figure id="{name}">' in html)
        raise SystemExit(f"these results have no figure {anchor!r}, but: {found}")
    written = []
    for number, svg in enumerate(re.findall(r"<svg.*?</svg>", figure[0], re.DOTALL), 1):
        file, picture = directory / f"{anchor}-{number}.svg", standalone(svg)
        file.write_text(picture, encoding="utf-8")
        file.with_suffix(".png").write_bytes(vl_convert.svg_to_png(picture, scale=2))
        written += [file, file.with_suffix(".png")]
    return written


def photograph(page: Path, digest: bytes, picture: Path) -> Path:
    """Write the top of a page as PNG, with the digest of its text as the comment."""
    chromium = shutil.which("chromium") or "google-chrome"
    command = [chromium, *_CHROMIUM.split(), f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    chunk = b"tEXtComment\0" + digest
    comment = (len(chunk) - 4).to_bytes(4) + chunk + zlib.crc32(chunk).to_bytes(4)
    picture.write_bytes(picture.read_bytes().replace(_END, comment + _END))
    return picture


def digest_of_top(html: str) -> bytes:
    """Return the digest of what the page says from its beginning to the end of its first figure."""
    top = html.partition("<body>")[2].partition("</svg>")[0]
    text = " ".join(re.sub("<[^>]*>", " ", top).split())
    return hashlib.sha256(text.encode()).hexdigest().encode()


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
        raise SystemExit(f"name a figure: make figure NAME={'|'.join([TOP, *anchors()])}")
    for file in write(name, report, Path("build")):
        show(str(file))
