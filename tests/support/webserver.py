"""A web server for tests: files in memory, with the faults that servers have."""

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves `files`; `requests` lists what was asked: method, name, range.

    `has_ranges` and `has_size`: what it supports. The first `drops` answers longer than `drop_after` bytes end there.
    `pause`: seconds before an answer. `statuses`: refusals, by name. After an answer from byte `change_after` on, the
    file is another one, with another tag; where not `has_tags`, of another size. `change_range` takes begin, end and
    size of a range, and returns begin and end of what is sent instead; `describe_range` returns its Content-Range, and
    `reasons` are the words of refusals, by status. A `bomb` is sent as a gzip body in place of any file
    or range, though its size was told. `stall`: seconds before the second half of a body.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requests, self.statuses = {}, [], {}
        self.has_ranges = self.has_size = self.has_tags = True
        self.drops = self.drop_after = self.version = 0
        self.pause, self.change_after = 0.0, None
        self.reasons, self.bomb, self.stall = {}, None, 0.0
        self.change_range = lambda begin, end, _size: (begin, end)
        self.describe_range = lambda begin, end, size: f"bytes {begin}-{end - 1}/{size}"
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def handle_error(self, *_):
        pass

    def take_drop(self, size):
        with self.lock:
            is_dropped = self.drops > 0 and size > self.drop_after
            self.drops -= is_dropped
            return is_dropped


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(has_body=False)

    def do_GET(self):
        self.answer(has_body=True)

    def do_PUT(self):
        name = self.path[1:].partition("?")[0]
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(("PUT", name, None))
        status = self.server.statuses.get(name, 201)
        if status == 201:
            self.server.files[name] = text
        self.refuse(status)

    def refuse(self, status):
        self.send_response(status, self.server.reasons.get(status))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, has_body):
        server, name = self.server, self.path[1:].partition("?")[0]
        server.requests.append((self.command, name, self.headers.get("Range")))
        if name in server.statuses or name not in server.files:
            return self.refuse(server.statuses.get(name, 404))
        time.sleep(server.pause)
        text, tag = server.files[name], f'"{server.version}"'
        if server.has_tags and self.headers.get("If-Match", tag) != tag:
            return self.refuse(412)
        found = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if server.has_ranges else None
        begin, end = (int(found[1]), min(int(found[2] or len(text)) + 1, len(text))) if found else (0, len(text))
        if found:
            begin, end = server.change_range(begin, end, len(text))
        self.send_response(206 if found else 200)
        if server.has_tags:
            self.send_header("ETag", tag)
        if found:
            described = server.describe_range(begin, end, len(text))
            self.send_header(*(("Content-Range", described) if described else ("X-None", "")))
        if has_body and server.bomb and name.startswith("p"):
            self.send_header("Content-Encoding", "gzip")
            text, begin, end = server.bomb, 0, len(server.bomb)
        if server.has_size:
            self.send_header("Content-Length", str(end - begin))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if has_body:
            self.send_body(text[begin:end])
            if server.change_after is not None and begin >= server.change_after:
                server.files[name], server.version, server.change_after = text + b"\n", server.version + 1, None
        return None

    def send_body(self, body):
        is_dropped = self.server.take_drop(len(body))
        body = body[: self.server.drop_after] if is_dropped else body
        if self.server.stall:
            self.wfile.write(body[: len(body) // 2])
            time.sleep(self.server.stall)
            body = body[len(body) // 2 :]
        self.wfile.write(body if self.server.has_size else b"%x\r\n%s\r\n" % (len(body), body))
        if not (self.server.has_size or is_dropped):
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or is_dropped
