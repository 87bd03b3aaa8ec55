"""Places, lists and cancels an order with a client that was generated from the server's own description:

    pip install openapi-python-client
    curl -s http://localhost:9090/openapi.json -o openapi.json
    openapi-python-client generate --path openapi.json --output-path rialto_client --meta none
    python trade.py http://localhost:9090
"""

import sys

from rialto_client import Client
from rialto_client.api.orders import delete_execution_order_int_id as cancel
from rialto_client.api.orders import get_execution_order as open_orders
from rialto_client.api.orders import post_execution_order_limit as place
from rialto_client.models import LimitOrderVO, LimitOrderVOSide, PlacedLimitOrderVO, Problem


def main(server: str) -> None:
    client = Client(base_url=server)
    order = LimitOrderVO(int_id="generated-python", security_id=1, side=LimitOrderVOSide.BUY, quantity=10, limit=200)
    placed = place.sync_detailed(client=client, body=order)
    print("placed", placed.status_code.value, placed.headers["location"])

    for known in open_orders.sync(client=client):
        assert isinstance(known, PlacedLimitOrderVO), known
        print("open", known.int_id, known.side.value, known.quantity, known.limit)

    again = place.sync(client=client, body=order)
    assert isinstance(again, Problem), again
    print("refused", again.status, again.code, again.order.int_id)

    order.quantity = -10
    order.int_id = "generated-python-2"
    wrong = place.sync(client=client, body=order)
    assert isinstance(wrong, Problem), wrong
    print("refused", wrong.status, wrong.code, [error.field for error in wrong.errors])

    print("cancelled", cancel.sync_detailed("generated-python", client=client).status_code.value)


main(sys.argv[1])
