// Hears over a WebSocket what becomes of orders, with the library that browsers use.
//
//     npm install @stomp/stompjs ws
//     node listen.mjs [URL] [MESSAGES]
//
// Ends after so many messages; without a number it listens until it is interrupted. In a browser the two lines about `ws`
// are not needed.

import { Client } from "@stomp/stompjs";
import { WebSocket } from "ws";

Object.assign(globalThis, { WebSocket });

const url = process.argv[2] ?? "ws://localhost:9090/stomp";
const messages = Number(process.argv[3] ?? Infinity);
let heard = 0;

const client = new Client({
  brokerURL: url,
  // A desk without users needs no login; otherwise a name with a password, or any name with a token.
  // connectHeaders: { login: "anna", passcode: "..." },
  reconnectDelay: 1_000,
});

// Runs after every connect: what was subscribed to before is not remembered by the server.
client.onConnect = () => {
  client.watchForReceipt("subscribed", () => console.log("listening"));
  // Orders that are placed by hand belong to the strategy SERVER.
  client.subscribe("/topic/order-status.SERVER.*", onStatus, { receipt: "subscribed" });
};

client.onStompError = (frame) => console.error("refused:", frame.headers.message);

async function onStatus(message) {
  const status = JSON.parse(message.body);
  console.log(status.intId, status.status);
  heard += 1;
  if (heard === messages) await client.deactivate();
}

client.activate();
