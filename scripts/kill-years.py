#!/usr/bin/env python3
"""Kills what works on a data folder: the server while it writes snapshots, `rialto backup` beside a server that trades, `rialto journal
archive`, and the import of the users of an older version. After each kill the newest orders and a sample of the older ones are looked up;
in the end every order that was acknowledged must be there once, and no other.

    scripts/kill-years.py RIALTO KILLS_OF_EACH [SEED] [PART…]

Parts: snapshots, backups, archives, imports; without any, all of them.
"""

import collections
import http.client
import json
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

OLD_USERS = pathlib.Path(__file__).resolve().parent.parent / "crates/access/tests/stories/old-access.sql"
SETTINGS = {
    "http.port": "0", "https.port": "off", "broker.tcp.port": "off", "broker.tls.port": "off", "broker.ws.port": "off",
    "fix.settings": "", "demo.activity": "off", "journal.segmentMegabytes": "1", "journal.ticks": "all",
    "snapshot.everyInputs": "25", "risk.ordersPerSecond": "100000", "http.requestsPerSecond": "1000000",
}
AAPL = 1
PREFIX = "YEARS-"
# Every so many lives the clock is a day later: what rests expires, so that cash is free again, and older orders leave the memory, so that
# snapshots stay frequent.
LIVES_A_DAY = 5
DAY_SECONDS = 86_400
ORDERS_A_LIFE = 60
ORDERS_A_BACKUP = 10
DOCUMENTS_A_LIFE = 12
DOCUMENT_BYTES = 200_000
# A server is killed within this time from when it is ready and checked.
LIFE_SECONDS = 0.6
# A command is killed within the time that one took that was left alone, and this part more; one that is done by then counts all the same.
KILL_WITHIN = 1.1
# Of the orders of earlier lives, so many are looked up after each kill.
SAMPLE = 20
# The whole journal is read, and a backup restored, after so many kills and in the end.
WHOLE_EVERY = 100
PAGE = 1_000
# So large that the import is many records.
OLD_AUDIT_ROWS = 2_000


class Client:
    """One connection that is kept."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc, timeout=60)

    def ask(self, path, body=None, method="GET"):
        self.connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{method} {path}: {answer.status} {text.decode()}"
        return text


class Years:
    def __init__(self, rialto, seed, folder):
        self.rialto, self.random, self.folder = rialto, random.Random(seed), folder
        self.data, self.backups = folder / "data", folder / "backups"
        # Orders that were acknowledged; those of them that no check has seen; those whose answer the kill cut off.
        self.placed, self.unseen, self.unanswered = [], [], set()
        self.documents, self.lives, self.number, self.killed_early = [], 0, 0, 0
        self.command_seconds = None

    def command(self, *words):
        return [self.rialto, *words, "--data-dir", str(self.data)]

    def run(self, *words):
        ended = subprocess.run(self.command(*words), capture_output=True, text=True, input="correct horse\n")
        assert ended.returncode == 0, f"{words}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def run_killed(self, *words, meanwhile=lambda: None):
        """Starts a command and kills it after a random time."""
        kill_at = time.monotonic() + self.random.random() * self.command_seconds * KILL_WITHIN
        process = subprocess.Popen(self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        meanwhile()
        time.sleep(max(0, kill_at - time.monotonic()))
        process.send_signal(signal.SIGKILL)
        self.killed_early += process.wait() == -signal.SIGKILL

    def measure(self, *words):
        """How long a command takes where it is not killed: its kills come within that time."""
        begun = time.monotonic()
        self.run(*words)
        self.command_seconds = time.monotonic() - begun

    def serve(self):
        """A server that is ready, and has everything that was acknowledged as far as that is looked up."""
        self.lives += 1
        settings = SETTINGS | {"clock.offset": str(self.lives // LIVES_A_DAY * DAY_SECONDS)}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        with open(self.folder / "server.log", "a") as log:
            server = subprocess.Popen(self.command("serve", *words), stdout=subprocess.PIPE, stderr=log, text=True)
        ready = server.stdout.readline()
        assert ready, (self.folder / "server.log").read_text()[-2000:]
        client = Client(json.loads(ready)["http"])
        self.check_newest(client)
        return server, client

    def stop(self, server):
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0, (self.folder / "server.log").read_text()[-2000:]

    def place(self, client):
        """By turns: bought, sold, resting, cancelled. So positions and cash stay where they are."""
        self.number += 1
        name, kind = f"{PREFIX}{self.number}", self.number % 4
        order = {"intId": name, "side": "SELL" if kind == 1 else "BUY", "quantity": 1, "securityId": AAPL, "accountId": 1}
        path = "/rest/execution/order/limit" if kind > 1 else "/rest/execution/order/market"
        body = json.dumps(order | ({"limit": 240} if kind > 1 else {})).encode()
        self.unanswered.add(name)
        client.ask(path, body, "POST")
        self.unanswered.remove(name)
        self.placed.append(name)
        self.unseen.append(name)
        if kind == 3:
            client.ask(f"/rest/execution/order/{name}", method="DELETE")

    def save_settings(self, client):
        """A large document, so that segments are full soon."""
        document = json.dumps({"number": self.number, "text": "x" * DOCUMENT_BYTES, "save": self.random.random()}).encode()
        self.documents.append(document)
        client.ask("/rest/settings", document, "PUT")
        self.documents = [document]

    def trade(self, client, orders):
        for number in range(orders):
            if number % 5 == 0 and number // 5 < DOCUMENTS_A_LIFE:
                self.save_settings(client)
            self.place(client)

    def life(self):
        """One life of the server under load, which ends in order."""
        server, client = self.serve()
        self.trade(client, ORDERS_A_LIFE)
        self.stop(server)

    def killed_life(self):
        """One life of the server under load. It is killed at any time, also while it writes a snapshot or has a request."""
        server, client = self.serve()
        killer = threading.Timer(self.random.random() * LIFE_SECONDS, server.kill)
        killer.start()
        try:
            while True:
                self.trade(client, ORDERS_A_LIFE)
        except (OSError, http.client.HTTPException):
            killer.join()
            self.killed_early += server.wait() == -signal.SIGKILL

    def check_newest(self, client):
        """Every order since the last check and a sample of those before, and the last settings."""
        older = len(self.placed) - len(self.unseen)
        sample = {self.placed[self.random.randrange(older)] for _ in range(SAMPLE)} if older else set()
        for name in [*self.unseen, *sample]:
            assert json.loads(client.ask(f"/rest/history/order/{name}/event")), f"{name} is lost"
        self.unseen = []
        if self.documents:
            found = client.ask("/rest/settings")
            assert found in self.documents, "the settings are not the last ones"
            self.documents = [found]

    def check_all(self):
        """Every order that was acknowledged is there once, every fill is booked once, nothing else is there, and the journal is good."""
        assert "damage          none" in self.run("journal", "verify")
        server, client = self.serve()
        orders = pages(client, "/rest/history/order")
        found = collections.Counter(order["intId"] for order in orders)
        lost = set(self.placed) - set(found)
        doubled = {name for name, times in found.items() if times > 1}
        foreign = set(found) - set(self.placed) - self.unanswered
        at_venue = collections.Counter(order["extId"] for order in orders if order["extId"])
        doubled |= {name for name, times in at_venue.items() if times > 1}
        assert not (lost or doubled or foreign), f"lost {lost}, doubled {doubled}, never sent {foreign}"
        booked = collections.Counter()
        for transaction in pages(client, "/rest/history/transaction"):
            booked[transaction["intOrderId"]] += abs(transaction["quantity"])
        wrong = [order["intId"] for order in orders if order["filledQuantity"] != booked[order["intId"]]]
        assert not wrong, f"not booked once: {wrong}"
        self.stop(server)

    def check_backup(self):
        """A backup after those that were killed restores to the digest of its sequence."""
        taken = self.run("backup", str(self.backups))
        sequence = next(line.split()[-1] for line in taken.splitlines() if line.startswith("last sequence"))
        target = self.folder / "restored"
        shutil.rmtree(target, ignore_errors=True)
        restore = [self.rialto, "restore", str(self.backups), "--data-dir", str(target)]
        restored = subprocess.run(restore, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        replayed = self.run("simulate", "--from-journal", str(self.data), "--up-to", sequence).splitlines()[-1]
        assert restored == replayed, f"{restored} is not {replayed}"
        shutil.rmtree(target)


def pages(client, path):
    """All rows of a list of history that are about our orders."""
    rows, after = [], ""
    while True:
        page = json.loads(client.ask(f"{path}?text={PREFIX}&limit={PAGE}{after}"))
        rows += page
        if len(page) < PAGE:
            return rows
        after = f"&after={page[-1]['id']}"


def is_whole_due(kill, kills):
    return (kill + 1) % WHOLE_EVERY == 0 or kill + 1 == kills


def snapshots(years, kills):
    for kill in range(kills):
        years.killed_life()
        if is_whole_due(kill, kills):
            years.check_all()


def backups(years, kills):
    """Orders are placed while a backup is taken and killed."""
    server, client = years.serve()
    years.trade(client, ORDERS_A_LIFE)
    years.measure("backup", str(years.backups))
    for kill in range(kills):
        years.run_killed("backup", str(years.backups), meanwhile=lambda: years.trade(client, ORDERS_A_BACKUP))
        if is_whole_due(kill, kills):
            years.stop(server)
            years.check_all()
            years.check_backup()
            server, client = years.serve()
    years.stop(server)


def archives(years, kills):
    years.life()
    years.measure("journal", "archive", "--keep", "0")
    for kill in range(kills):
        years.life()
        years.run_killed("journal", "archive", "--keep", "0")
        if is_whole_due(kill, kills):
            years.run("journal", "archive", "--keep", "0")
            assert list((years.data / "archive").glob("*.zst")), "nothing was archived"
            years.check_all()
            years.check_backup()


def imports(years, kills):
    """Each import begins with the users of an older version, and is killed once; the next one has them all."""
    prepared = years.folder / "access.sqlite"
    with sqlite3.connect(prepared) as old:
        old.executescript(OLD_USERS.read_text())
        row = "INSERT INTO audit (at, door, action, outcome, detail, times, last_at) VALUES (1, 'REST', ?, 'done', 'x', 1, 1)"
        old.executemany(row, [("long " * 500,)] * OLD_AUDIT_ROWS)
    old.close()
    for kill in range(kills + 1):
        shutil.rmtree(years.data, ignore_errors=True)
        years.data.mkdir()
        shutil.copy(prepared, years.data)
        if kill == 0:
            years.measure("user", "list")
        else:
            years.run_killed("user", "list")
        users, tokens = years.run("user", "list"), years.run("token", "list")
        assert [line.split()[0] for line in users.splitlines()] == ["anna", "boss"], users
        assert tokens.startswith("robot "), tokens
        assert (years.data / "access-before-journal.sqlite").exists()


PARTS = (snapshots, backups, archives, imports)


def main():
    rialto, kills = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 1_000_000
    parts = [part for part in PARTS if part.__name__ in sys.argv[4:] or not sys.argv[4:]]
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="rialto-years-") as folder:
        for part in parts:
            begun = time.monotonic()
            years = Years(rialto, seed, pathlib.Path(folder) / part.__name__)
            years.folder.mkdir()
            part(years, kills)
            counts = f"{kills} kills, {years.killed_early} before it was done; {len(years.placed)} orders acknowledged"
            counts += f", {len(years.unanswered)} without an answer, lost 0, doubled 0"
            print(f"{part.__name__}: {counts}; {time.monotonic() - begun:.0f} s", flush=True)
            shutil.rmtree(years.folder)


main()
