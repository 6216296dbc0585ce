"""A web server for tests: files in memory, with the faults that servers have."""

import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves `files`; `requests` lists what was asked: method, name, range.

    `has_size` and `has_tags`: what it tells of a file. The first `drops` answers longer than `drop_after` bytes end
    there. `pause`: seconds before an answer. `statuses`: refusals, by name; `reasons`: their words, by status. A `bomb`
    is sent as a gzip body in place of any file, though its size was told. `stall`: seconds before the second half of a
    body.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requests, self.statuses = {}, [], {}
        self.has_size = self.has_tags = True
        self.drops = self.drop_after = 0
        self.pause = self.stall = 0.0
        self.reasons, self.bomb = {}, None
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
        body = server.files[name]
        self.send_response(200)
        if server.has_tags:
            self.send_header("ETag", f'"{zlib.crc32(body)}"')
        if has_body and server.bomb and name.startswith("p"):
            self.send_header("Content-Encoding", "gzip")
            body = server.bomb
        if server.has_size:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if has_body:
            self.send_body(body)
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
