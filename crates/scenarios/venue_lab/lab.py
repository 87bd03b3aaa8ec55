"""What the judges of the venue lab share: its addresses, its keys, and its ledger."""

import faulthandler
import json
import sys
import urllib.request

# A judge that hangs says where, and ends.
faulthandler.dump_traceback_later(120, exit=True)


class Lab:
    """The lab whose ready line is in the file that the first argument names."""

    def __init__(self):
        with open(sys.argv[1], encoding="utf-8") as file:
            self.ready = json.load(file)
        with open(self.ready["keys"], encoding="utf-8") as file:
            self.keys = json.load(file)

    def key(self, account, kind):
        """The API key, and the secret or the private key."""
        found = next(key for key in self.keys if (key["account"], key["kind"]) == (account, kind))
        return found["apiKey"], found.get("secret") or found["privateKeyPem"]

    def ledger(self):
        with urllib.request.urlopen(self.ready["admin"] + "/ledger") as answer:
            return json.load(answer)

    def admin(self, path, body=None, method=None):
        """A request to the admin port; the answer as text."""
        request = urllib.request.Request(self.ready["admin"] + path, data=body, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def arm(self, fault, **options):
        self.admin("/faults", json.dumps({"fault": fault, **options}).encode(), "POST")

    def compare(self, account, orders, trades, balances, before=None):
        """What a client has against the ledger: every entry and every value, in the venue's names. Orders and trades of the
        ledger `before` the client began are left out."""
        seen = {
            "orders": [(o["symbol"], str(o["orderId"]), o["clientOrderId"], o["side"], o["type"], o["timeInForce"],
                        o["price"], o["origQty"], o["executedQty"], o["status"]) for o in orders],
            "trades": [(t["symbol"], str(t["id"]), str(t["orderId"]), t["price"], t["qty"], t["commission"],
                        t["commissionAsset"], t["isMaker"], str(t["time"])) for t in trades],
            "balances": [(b["asset"], b["free"], b["locked"]) for b in balances],
        }
        fields = {
            "orders": ("symbol", "orderId", "clientOrderId", "side", "type", "timeInForce", "price", "quantity", "filled",
                       "status"),
            "trades": ("symbol", "tradeId", "orderId", "price", "quantity", "commission", "commissionAsset", "maker", "time"),
            "balances": ("asset", "free", "locked"),
        }
        print(account, "paid in", sorted({trade["commissionAsset"] for trade in trades}))
        ledger = self.ledger()
        for kind, names in fields.items():
            old = before[kind] if before and kind != "balances" else []
            entries = [entry for entry in ledger[kind] if entry["account"] == account and entry not in old]
            kept = [tuple(entry[name] for name in names) for entry in entries]
            assert sorted(seen[kind]) == sorted(kept), f"{account}: the client has {seen[kind]}, the ledger {kept}"
            print(account, kind, len(kept), "equal the ledger")
