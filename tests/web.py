"""A web server on this machine for a test, and what it was asked."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Asked:
    """A request. The names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def server(status: int, body: bytes) -> Iterator[tuple[str, list[Asked]]]:
    """Answer every request in this way; provide the server's URL, and the requests."""
    requests: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            requests.append(Asked(self.path, headers, content))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = answer  # noqa: N815  names of the base

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}", requests
        web.shutdown()
