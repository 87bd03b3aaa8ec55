#!/usr/bin/env python3
"""Kills what works on a data folder: the server while it writes snapshots, `rialto backup`, `rialto journal archive`, and the import of
the users of an older version. After each kill everything that was acknowledged must be there.

    scripts/kill-years.py RIALTO KILLS_OF_EACH [SEED]
"""

import json
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

OLD_USERS = pathlib.Path(__file__).parent.parent / "crates/access/tests/stories/old-access.sql"
SETTINGS = {
    "http.port": "0", "https.port": "off", "broker.tcp.port": "off", "broker.tls.port": "off", "broker.ws.port": "off",
    "fix.settings": "", "demo.activity": "off", "journal.segmentMegabytes": "1", "journal.ticks": "all",
    "snapshot.everyInputs": "25", "risk.ordersPerSecond": "100000", "http.requestsPerSecond": "1000000",
}
AAPL = 1
ORDERS_A_LIFE = 60
DOCUMENTS_A_LIFE = 12
DOCUMENT_BYTES = 200_000
# So large that the import is many records.
OLD_AUDIT_ROWS = 2_000
# A command is killed within this time of its start; one that is done by then counts as a kill all the same.
KILL_WITHIN_SECONDS = 0.4


class Years:
    def __init__(self, rialto, seed, folder):
        self.rialto, self.random, self.folder = rialto, random.Random(seed), folder
        self.data, self.backups = folder / "data", folder / "backups"
        self.placed, self.killed_early = [], 0

    def command(self, *words):
        return [self.rialto, *words, "--data-dir", str(self.data)]

    def run(self, *words, code=0):
        ended = subprocess.run(self.command(*words), capture_output=True, text=True, input="correct horse\n")
        assert ended.returncode == code, f"{words}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def run_killed(self, *words):
        """Starts a command and kills it after a random time."""
        process = subprocess.Popen(self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.random() * KILL_WITHIN_SECONDS)
        process.send_signal(signal.SIGKILL)
        self.killed_early += process.wait() == -signal.SIGKILL

    def serve(self):
        settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
        log = open(self.folder / "server.log", "a")
        server = subprocess.Popen(self.command("serve", *settings), stdout=subprocess.PIPE, stderr=log, text=True)
        ready = server.stdout.readline()
        assert ready, (self.folder / "server.log").read_text()[-2000:]
        return server, json.loads(ready)["http"]

    def place(self, url):
        name = f"YEARS-{len(self.placed) + 1}"
        order = {"intId": name, "side": "BUY", "quantity": 1, "securityId": AAPL, "limit": 240, "accountId": 1}
        ask(f"{url}/rest/execution/order/limit", json.dumps(order).encode(), "POST")
        self.placed.append(name)

    def save_settings(self, url):
        """A large document, so that segments are full soon."""
        self.document = json.dumps({"number": len(self.placed), "text": "x" * DOCUMENT_BYTES}).encode()
        ask(f"{url}/rest/settings", self.document, "PUT")

    def life(self, is_killed):
        """One life of the server under load. It is killed at any time, also while it writes a snapshot."""
        server, url = self.serve()
        for _ in range(DOCUMENTS_A_LIFE):
            self.save_settings(url)
        for _ in range(self.random.randrange(ORDERS_A_LIFE) if is_killed else ORDERS_A_LIFE):
            self.place(url)
        server.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
        server.wait()

    def check(self):
        """Every order that was acknowledged is there, and the journal is good."""
        assert "damage          none" in self.run("journal", "verify")
        server, url = self.serve()
        assert ask(f"{url}/rest/settings") == self.document, "the settings are not the last ones"
        for name in self.placed:
            assert ask(f"{url}/rest/history/order/{name}/event"), f"{name} is lost"
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0

    def check_backup(self):
        """A backup after the one that was killed restores to the digest of its sequence."""
        taken = self.run("backup", str(self.backups))
        sequence = next(line.split()[-1] for line in taken.splitlines() if line.startswith("last sequence"))
        target = self.folder / "restored"
        shutil.rmtree(target, ignore_errors=True)
        restore = [self.rialto, "restore", str(self.backups), "--data-dir", str(target)]
        restored = subprocess.run(restore, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        replayed = self.run("simulate", "--from-journal", str(self.data), "--up-to", sequence).splitlines()[-1]
        assert restored == replayed, f"{restored} is not {replayed}"


def ask(url, body=None, method="GET"):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def snapshots(years, kills):
    for _ in range(kills):
        years.life(is_killed=True)
    years.check()


def backups(years, kills):
    years.life(is_killed=False)
    for _ in range(kills):
        years.run_killed("backup", str(years.backups))
    years.check_backup()


def archives(years, kills):
    for _ in range(kills):
        years.life(is_killed=False)
        years.run_killed("journal", "archive", "--keep", "0")
    years.run("journal", "archive", "--keep", "0")
    assert list((years.data / "archive").glob("*.zst")), "nothing was archived"
    years.check()
    years.check_backup()


def imports(years, kills):
    """Each import begins with the users of an older version, and is killed once; the next one has them all."""
    for _ in range(kills):
        shutil.rmtree(years.data, ignore_errors=True)
        years.data.mkdir()
        with sqlite3.connect(years.data / "access.sqlite") as old:
            old.executescript(OLD_USERS.read_text())
            row = "INSERT INTO audit (at, door, action, outcome, detail, times, last_at) VALUES (1, 'REST', ?, 'done', 'x', 1, 1)"
            old.executemany(row, [("long " * 500,)] * OLD_AUDIT_ROWS)
        old.close()
        years.run_killed("user", "list")
        users, tokens = years.run("user", "list"), years.run("token", "list")
        assert [line.split()[0] for line in users.splitlines()] == ["anna", "boss"], users
        assert tokens.startswith("robot "), tokens
        assert (years.data / "access-before-journal.sqlite").exists()


def main():
    rialto, kills = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 1_000_000
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory(prefix="rialto-years-") as folder:
        for part in (snapshots, backups, archives, imports):
            years = Years(rialto, seed, pathlib.Path(folder) / part.__name__)
            years.folder.mkdir()
            part(years, kills)
            early = f", {years.killed_early} before they were done" if years.killed_early else ""
            print(f"{part.__name__}: {kills} kills{early}, {len(years.placed)} orders, nothing lost", flush=True)


main()
