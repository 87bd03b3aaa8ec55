/**
 * Runs in the page, before the screen: replaces WebSocket by one that speaks as much STOMP as the screen needs and sends
 * ticks of the subscribed securities, spread evenly over each second.
 */
export function installFakeBroker({ rate }) {
  const EVERY_MS = 5;
  const NUL = '\0';
  window.ticksSent = 0;

  class FakeBroker extends EventTarget {
    static OPEN = 1;
    protocol = 'v12.stomp';
    readyState = 0;
    binaryType = 'arraybuffer';
    #ticks = new Map();
    #next = 0;
    #owed = 0;
    #last = performance.now();

    constructor() {
      super();
      setTimeout(() => {
        this.readyState = FakeBroker.OPEN;
        this.onopen?.({});
      });
    }

    send(data) {
      for (const frame of String(data).split(NUL)) this.#hear(frame.trimStart());
    }

    close() {
      this.onclose?.({ wasClean: true, code: 1000 });
    }

    #hear(frame) {
      const [command = '', ...lines] = frame.split('\n');
      const header = (name) => lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
      if (command === 'CONNECT' || command === 'STOMP') return this.#connected();
      const receipt = header('receipt');
      if (receipt) this.#answer(`RECEIPT\nreceipt-id:${receipt}\n\n`);
      const security = /^\/topic\/tick\.(\d+)$/.exec(header('destination') ?? '')?.[1];
      if (command === 'SUBSCRIBE' && security) this.#ticks.set(header('id'), { id: Number(security), price: 100 });
      if (command === 'UNSUBSCRIBE') this.#ticks.delete(header('id'));
    }

    #connected() {
      this.#answer('CONNECTED\nversion:1.2\nheart-beat:0,0\n\n');
      setInterval(() => this.#sendDue(), EVERY_MS);
    }

    #sendDue() {
      const now = performance.now();
      this.#owed = Math.min(this.#owed + ((now - this.#last) * rate) / 1000, rate);
      this.#last = now;
      const topics = [...this.#ticks.entries()];
      for (; this.#owed >= 1 && topics.length > 0; this.#owed -= 1) {
        const [subscription, security] = topics[this.#next++ % topics.length];
        this.#tick(subscription, security);
      }
    }

    #tick(subscription, security) {
      security.price += Math.round(Math.random() * 4 - 2) / 100;
      const { id, price } = security;
      const at = Date.now();
      const body = JSON.stringify({
        objectType: 'Tick',
        securityId: id,
        feed: 'BENCH',
        dateTime: at,
        last: round(price),
        lastDateTime: at,
        volLast: 100,
        bid: round(price - 0.01),
        ask: round(price + 0.01),
        volBid: 300,
        volAsk: 400,
        vol: ++window.ticksSent,
      });
      const headers = `destination:/topic/tick.${id}\nsubscription:${subscription}\nmessage-id:${window.ticksSent}`;
      this.#say(`MESSAGE\n${headers}\nsequence:${window.ticksSent}\ncontent-type:application/json\n\n${body}`);
    }

    /** Never while the question is still being sent. */
    #answer(frame) {
      setTimeout(() => this.#say(frame));
    }

    #say(frame) {
      this.onmessage?.({ data: frame + NUL });
    }
  }

  const round = (price) => Math.round(price * 100) / 100;
  window.WebSocket = FakeBroker;
}
