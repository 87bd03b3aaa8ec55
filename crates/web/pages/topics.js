// Shows the description of the topics and listens to them at this very server. Nothing is fetched from elsewhere.
"use strict";

const MESSAGES_SHOWN = 200;
const at = (id) => document.getElementById(id);

/** An element with texts and elements in it; text is never taken for markup. */
function make(tag, properties, ...inner) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inner);
  return element;
}

// ---- the description ----

function types(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(types).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const names = [schema.type ?? "any"].flat().map((name) => (name === "array" ? types(schema.items) + "[]" : name));
  return names.join(" | ");
}

function fields(name, schema) {
  const needed = schema.required ?? [];
  const row = ([field, inner]) => make("tr", {}, make("td", {}, field + (needed.includes(field) ? "" : "?")),
    make("td", {}, types(inner)), make("td", {}, inner.description ?? ""));
  const head = make("tr", {}, ...["Field", "Type", "Meaning"].map((title) => make("th", { scope: "col" }, title)));
  const table = make("table", {}, make("thead", {}, head),
    make("tbody", {}, ...Object.entries(schema.properties ?? {}).map(row)));
  const examples = (schema.examples ?? []).slice(0, 1).map((one) => make("pre", {}, JSON.stringify(one, null, 2)));
  return make("details", {}, make("summary", {}, name + ": " + (schema.description ?? "")), table, ...examples);
}

const MARKS = { "x-from-sequence": "from-sequence", "x-snapshot": "snapshot", "x-throttled": "throttled over WebSocket" };

function family(channel, described) {
  const listen = make("button", { type: "button", className: "try" }, "Listen");
  listen.addEventListener("click", () => choose(channel.address));
  const marks = Object.entries(MARKS).filter(([key]) => channel[key]).map(([, text]) => make("span", { className: "mark" }, text));
  const parameters = Object.entries(channel.parameters ?? {}).map(([name, one]) => make("li", {}, name + ": " + one.description));
  const schemas = described.components.schemas;
  const forms = (name) => schemas[name]?.oneOf?.map((form) => form.$ref.split("/").pop()) ?? [name];
  const payloads = Object.keys(channel.messages).flatMap(forms).map((name) =>
    schemas[name] ? fields(name, schemas[name]) : make("p", {}, "Any JSON."));
  return make("article", {}, make("h3", {}, channel.address), make("p", {}, channel.description),
    make("p", {}, ...marks, listen), make("ul", {}, ...parameters), ...payloads);
}

async function show() {
  const answer = await fetch("/asyncapi.json");
  const described = await answer.json();
  at("families").replaceChildren(...Object.values(described.channels).map((channel) => family(channel, described)));
}

// ---- listening ----

let socket = null;

function say(text, kind) {
  at("state").textContent = text;
  at("state").className = kind ?? "";
}

function escaped(text) {
  return text.replace(/[\\\n\r:]/g, (letter) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r", ":": "\\c" })[letter]);
}

function unescaped(text) {
  return text.replace(/\\(.)/g, (whole, letter) => ({ "\\": "\\", n: "\n", r: "\r", c: ":" })[letter] ?? whole);
}

/** CONNECT is the one frame whose headers are not escaped. */
function frame(command, headers, plain) {
  const write = plain ? (text) => text : escaped;
  const lines = Object.entries(headers).map(([name, value]) => write(name) + ":" + write(value));
  return [command, ...lines, "", "\0"].join("\n");
}

function read(text) {
  const begin = text.replace(/^\n+/, "");
  const end = begin.indexOf("\n\n");
  if (end < 0) return null;
  const [command, ...lines] = begin.slice(0, end).split("\n");
  const headers = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[unescaped(line.slice(0, colon))] ??= unescaped(line.slice(colon + 1));
  }
  return { command, headers, body: begin.slice(end + 2).replace(/\0\n*$/, "") };
}

function wanted() {
  const headers = { id: "1", destination: at("destination").value.trim(), receipt: "listening" };
  if (at("snapshot").checked) headers.snapshot = "true";
  if (at("from").value.trim()) headers["from-sequence"] = at("from").value.trim();
  return headers;
}

function take(told) {
  if (told.command === "CONNECTED") socket.send(frame("SUBSCRIBE", wanted()));
  if (told.command === "RECEIPT") say("Listening to " + at("destination").value.trim(), "good");
  if (told.command === "ERROR") say(told.headers.message, "bad");
  if (told.command !== "MESSAGE") return;
  const { destination, sequence, ...other } = told.headers;
  const marks = ["event-id", "snapshot", "replayed", "conflated"].filter((name) => name in other);
  const line = make("li", {}, make("b", {}, destination), make("span", {}, "sequence " + sequence),
    ...marks.map((name) => make("span", {}, name + " " + other[name])), make("div", {}, told.body));
  at("messages").prepend(line);
  while (at("messages").childElementCount > MESSAGES_SHOWN) at("messages").lastElementChild.remove();
}

function stop() {
  const open = socket;
  socket = null;
  open?.close(1000);
  at("toggle").textContent = "Listen";
}

function start() {
  stop();
  at("messages").replaceChildren();
  const opened = new WebSocket(location.origin.replace(/^http/, "ws") + "/stomp", ["v12.stomp"]);
  socket = opened;
  at("toggle").textContent = "Stop";
  say("Connecting.");
  const login = { login: at("login").value, passcode: at("passcode").value };
  const headers = { "accept-version": "1.2", host: location.hostname, "heart-beat": "0,10000", ...(login.login && login) };
  opened.addEventListener("open", () => opened.send(frame("CONNECT", headers, true)));
  opened.addEventListener("message", (event) => {
    const told = socket === opened && typeof event.data === "string" ? read(event.data) : null;
    if (told) take(told);
  });
  opened.addEventListener("close", (event) => {
    if (socket !== opened) return;
    if (at("state").className !== "bad") say("Closed with code " + event.code + ".", "bad");
    stop();
  });
}

/** Fills in the destination with a wildcard for every parameter, and listens. */
function choose(address) {
  at("destination").value = address.replace(/\{[^}]*\}/g, "*");
  at("live-title").scrollIntoView();
  start();
}

at("listen").addEventListener("submit", (event) => {
  event.preventDefault();
  if (socket) {
    stop();
    say("Not connected.");
  } else {
    start();
  }
});

show().catch((error) => say("The description can't be read: " + error.message, "bad"));
