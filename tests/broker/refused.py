"""What is no broker: one clear line on stderr within the time-out, and exit status 1."""
import socket
import tempfile
import threading

from common import attempt, check, run
from kafka import free_ports

TIMEOUT = ["--timeout-ms", "3000"]
HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
TLS_ALERT = bytes([21, 3, 1, 0, 2, 2, 70])  # fatal: the protocol's version


class Stranger:
    """Accepts on a free port, and gives each connection one answer: None never, b"" the end."""

    def __init__(self, answer):
        self.answer, self.connections = answer, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        try:
            while True:
                connection = self.listener.accept()[0]
                self.connections.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        except OSError:
            pass  # closed

    def serve(self, connection):
        try:
            if self.answer == b"":
                connection.close()
            elif self.answer is not None and connection.recv(4096):
                connection.sendall(self.answer)
        except OSError:
            pass  # the other side has gone

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.connections:
            connection.close()


def check_line(address, *flags):
    """One line, and it says which address or topic is meant."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (["read", "-e"], ["replay", "--to", f"{folder}/to"]):
            done = run(*command, "-b", address, *flags, *TIMEOUT).expect(1)
            lines = done.err.decode().splitlines()
            check(f"{done.line}, one line", None if len(lines) == 1 else f"{lines}")
            check(f"{done.line}, output", None if done.out == b"" else f"{done.out[:200]}")
            yield done


def check_address(address, word=None):
    for done in check_line(address, "-t", "any"):
        done.expect_word(word or address.split(",")[0])


def check_stranger(answer):
    with Stranger(answer) as stranger:
        check_address(f"127.0.0.1:{stranger.port}")


def check_unknown(bootstrap):
    """A topic, a partition and a regular expression that a broker has none of."""
    for flags, word in ((["-t", "no-such-topic"], "no-such-topic"),
                        (["-t", "mixed", "-p", "77"], "mixed"),
                        (["-t", "^no-such.*"], "no-such")):
        for done in check_line(bootstrap, *flags):
            done.expect_word(word)


def check_refused():
    port, other = free_ports(2)
    attempt("nobody there", check_address, f"127.0.0.1:{port}")
    attempt("nobody there, twice", check_address, f"127.0.0.1:{port},127.0.0.1:{other}")
    attempt("no such host", check_address, "no-such-host.invalid:9092", "no-such-host.invalid")
    for what, answer in (("HTTP", HTTP), ("TLS", TLS_ALERT), ("no answer", None),
                         ("the end", b""), ("a length that is none", b"\xff\xff\xff\xff"),
                         ("a great length", b"\x7f\xff\xff\xff"),
                         ("another correlation", b"\0\0\0\4\x7f\0\0\0")):
        attempt(f"a port that answers with {what}", check_stranger, answer)
