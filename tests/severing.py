"""A door in front of PostgreSQL that can be slammed at COMMIT: before the question passes, or before the answer does."""

import select
import shutil
import socket
import tempfile
import threading
from pathlib import Path

from postgres import PORT


class SlammingDoor:
    """Forward a Unix socket to the server; ``slam`` cuts one connection at its next COMMIT."""

    def __init__(self, server):
        self.server = server
        self.slam = None  # None, "before the question", "before the answer"
        self.folder = Path(tempfile.mkdtemp(prefix="door-", dir="/tmp"))
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(self.folder / f".s.PGSQL.{PORT}"))
        self.listening.listen()
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for thread in self.threads:
            thread.join(timeout=10)
        shutil.rmtree(self.folder)

    def _accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self._forward, args=(client,)))
            self.threads[-1].start()

    def _forward(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self.server.folder / f".s.PGSQL.{PORT}"))
        with client, server:
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(65536)
                    if not data or (source is client and b"COMMIT\x00" in data and self._slams(server, data)):
                        return
                    (server if source is client else client).sendall(data)

    def _slams(self, server, question):
        how, self.slam = self.slam, None
        if how == "before the answer":
            server.sendall(question)
            server.recv(65536)  # the server has committed; the client will never hear of it
        return how is not None
