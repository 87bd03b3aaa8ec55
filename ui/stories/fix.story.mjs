/** An order that comes by FIX is an order like any other: it shows at once, and the screen may cancel it. */

import { connect } from 'node:net';
import { openScreen } from './harness.mjs';

const SOH = '\x01';

/** As much of a FIX 4.4 client as sending one order takes. */
class FixClient {
  #sequence = 0;
  #heard = '';
  #waiting = [];

  static async logOn(address) {
    const { hostname, port } = new URL(address);
    const client = new FixClient();
    client.socket = connect(Number(port), hostname);
    client.socket.setEncoding('latin1');
    client.socket.on('data', (text) => client.#hear(text));
    client.send('A', { 98: '0', 108: '30', 141: 'Y' });
    await client.until('35=A');
    return client;
  }

  send(type, fields) {
    const head = { 35: type, 49: 'CLIENT', 56: 'RIALTO', 34: ++this.#sequence, 52: fixTime() };
    const body = Object.entries(fields)
      .map(([tag, value]) => `${tag}=${value}${SOH}`)
      .join('');
    const start = ['35', '49', '56', '34', '52'].map((tag) => `${tag}=${head[tag]}${SOH}`).join('');
    const message = `8=FIX.4.4${SOH}9=${start.length + body.length}${SOH}${start}${body}`;
    const sum = [...message].reduce((total, char) => total + char.charCodeAt(0), 0) % 256;
    this.socket.write(`${message}10=${String(sum).padStart(3, '0')}${SOH}`, 'latin1');
  }

  /** Waits until a message has come that contains this field. */
  until(field) {
    return new Promise((resolve) => {
      this.#waiting.push({ field: `${SOH}${field}${SOH}`, resolve });
      this.#hear('');
    });
  }

  logOut() {
    this.send('5', {});
    this.socket.end();
  }

  #hear(text) {
    this.#heard += text;
    this.#waiting = this.#waiting.filter(({ field, resolve }) => {
      const isThere = this.#heard.includes(field);
      if (isThere) resolve();
      return !isThere;
    });
  }
}

function fixTime() {
  return new Date().toISOString().replaceAll('-', '').replace('T', '-').replace('Z', '');
}

export default [
  {
    name: 'an order sent by FIX appears at once, and its cancel reaches the client',
    settings: ['demo.activity=off'],
    async run({ server, page, shoot }) {
      await openScreen(page, server);
      await page.getByText('No open orders').waitFor();
      const client = await FixClient.logOn(server.ready.fix);
      client.send('D', { 11: 'STORY-1', 48: '1', 54: '1', 38: '10', 40: '2', 44: '244', 60: fixTime() });
      await client.until('39=0');
      const order = page.getByRole('grid', { name: 'Open orders' }).getByRole('row').filter({ hasText: '244.00' });
      await order.filter({ hasText: 'Working' }).waitFor();
      await shoot('story-fix');
      await order.getByText('AAPL').click();
      await page.keyboard.press('Delete');
      await client.until('39=4');
      await page.getByText('No open orders').waitFor();
      client.logOut();
    },
  },
];
