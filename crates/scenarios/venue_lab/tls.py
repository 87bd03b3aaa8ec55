"""A client with Python's own TLS reads the venue lab over https and wss, and trusts its certificate alone. The first argument names a file with
the lab's ready line."""

import asyncio
import ssl
from pathlib import Path

import aiohttp

from lab import Lab


async def main():
    lab = Lab()
    trust = ssl.create_default_context(cafile=str(Path(lab.ready["keys"]).parent / "tls" / "cert.pem"))
    faces = ("binanceRest", "binanceWsApi", "binanceStreams", "binanceFixOrderEntry", "fix44", "admin")
    print(*[lab.ready[face].split("://")[0] for face in faces])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session:
        async with session.get(lab.ready["binanceRest"] + "/api/v3/depth?symbol=BTCUSDT&limit=1") as answer:
            print(answer.status, (await answer.json())["bids"])
        async with session.ws_connect(lab.ready["binanceWsApi"]) as socket:
            await socket.send_json({"id": 1, "method": "ping"})
            answer = await socket.receive_json()
            print(answer["id"], answer["status"], answer["result"])
            await socket.send_json({"id": 2, "method": "exchangeInfo", "params": {}})
            answer = await socket.receive_json()
            print(answer["id"], [symbol["symbol"] for symbol in answer["result"]["symbols"]])
        async with session.ws_connect(lab.ready["binanceStreams"] + "/ws/btcusdt@depth5@100ms") as socket:
            print((await socket.receive_json())["asks"][0])
    try:
        async with aiohttp.ClientSession() as stranger, stranger.get(lab.ready["binanceRest"] + "/api/v3/ping") as answer:
            print(answer.status)
    except aiohttp.ClientConnectorCertificateError:
        print("without its certificate it is not trusted")


asyncio.run(main())
