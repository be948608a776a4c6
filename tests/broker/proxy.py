"""A network between krc and a broker that carries bytes in pieces, and breaks."""
import random
import socket
import threading

LEAST, MOST = 80_000, 300_000  # bytes that a connection carries before it breaks
PIECES = 20_000  # of these the first come in small pieces


class Network:
    """Listens where the broker says that it does."""

    def __init__(self, port, broker):
        self.broker = broker
        self.listener = socket.create_server(("127.0.0.1", port))
        self.sockets = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.broker))
            except OSError:
                return  # closed, or the broker has gone
            self.sockets += [near, far]
            self.begin(near, far)

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        for each in (self.listener, *self.sockets):
            each.close()


class Proxy(Network):
    """Of the connections every fourth stops carrying anything, and is left open; the others are
    closed."""

    def __init__(self, port, broker, seed):
        super().__init__(port, broker)
        self.random, self.broken = random.Random(seed), 0

    def begin(self, near, far):
        most = self.random.randrange(LEAST, MOST)
        threading.Thread(target=self.carry, args=(near, far, 1 << 40), daemon=True).start()
        threading.Thread(target=self.carry, args=(far, near, most), daemon=True).start()

    def carry(self, source, to, most):
        """Until it breaks."""
        done = 0
        try:
            while done < most:
                piece = source.recv(self.random.randrange(1, 200 if done < PIECES else 65536))
                if not piece:
                    break
                to.sendall(piece)
                done += len(piece)
            else:
                self.broken += 1
                if self.broken % 4 == 0:
                    return
            for end in (source, to):
                end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other direction has shut it down


class Shears(Network):
    """Cuts each connection once so many bytes of answers have come through."""

    def __init__(self, port, broker, most):
        super().__init__(port, broker)
        self.most, self.cut = most, 0

    def begin(self, near, far):
        for ends in ((near, far, 1 << 40), (far, near, self.most)):
            threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source, to, most):
        try:
            while most > 0 and (piece := source.recv(65536)):
                to.sendall(piece[:most])
                most -= len(piece)
            self.cut += most <= 0
            for end in (source, to):
                end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other direction has shut it down
