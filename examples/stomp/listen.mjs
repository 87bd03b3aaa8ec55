// Hears what becomes of orders, with the library that browsers use, and goes on where it stopped when the connection breaks
// or the program starts again.
//
//     npm install @stomp/stompjs ws
//     node listen.mjs [URL] [FILE]
//
// URL is ws://HOST:PORT/stomp or wss://HOST:PORT/stomp, by default ws://localhost:9090/stomp. FILE keeps the id of the last
// event, by default last-event; without it the program begins with the first event that the server has.
//
// Environment: RIALTO_LOGIN and RIALTO_PASSCODE log in (a user and the password, or any name and a token);
// NODE_EXTRA_CA_CERTS is the certificate that TLS is checked against, such as data/tls/cert.pem.
//
// In a browser the lines about `ws` are not needed, and the id is kept in localStorage.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Client } from "@stomp/stompjs";
import { WebSocket } from "ws";

Object.assign(globalThis, { WebSocket });

const url = process.argv[2] ?? "ws://localhost:9090/stomp";
const file = process.argv[3] ?? "last-event";
const { RIALTO_LOGIN: login, RIALTO_PASSCODE: passcode } = process.env;

const client = new Client({
  brokerURL: url,
  // A desk without users needs no login.
  connectHeaders: login ? { login, passcode } : {},
  reconnectDelay: 1_000,
  heartbeatIncoming: 10_000,
  heartbeatOutgoing: 10_000,
});

// Runs after every connect: what was subscribed to before is not remembered by the server.
client.onConnect = () => {
  client.watchForReceipt("subscribed", () => console.log("listening"));
  // Orders that are placed by hand belong to the strategy SERVER.
  client.subscribe("/topic/order.SERVER.*", onOrder, { snapshot: "true" });
  const last = existsSync(file) ? readFileSync(file, "utf8").trim() : "0";
  client.subscribe("/topic/order-status.SERVER.*", onStatus, { "from-sequence": last, receipt: "subscribed" });
};

client.onStompError = (frame) => console.error("refused:", frame.headers.message);

// The last value of each open order; what happens to it afterwards comes by the other subscription.
function onOrder(message) {
  const order = JSON.parse(message.body);
  if (message.headers.snapshot === "true") console.log("standing", order.intId, order.status);
}

function onStatus(message) {
  const status = JSON.parse(message.body);
  console.log(status.intId, status.status);
  // Written down when the work is done: what was not done is delivered again.
  writeFileSync(`${file}.new`, message.headers["event-id"]);
  // In one step, so that the file is whole whenever the program ends.
  renameSync(`${file}.new`, file);
}

client.activate();
