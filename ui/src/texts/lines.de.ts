import type { connectivity as english } from './lines.en';

export const connectivity: typeof english = {
  lines: {
    line: { TRADING: 'Handelsleitung', PRIVATE: 'Privater Kanal', PRICES: 'Preise' },
    openFor: { ORDERS: 'offen für Orders', REDUCE: 'nur verringern', NOTHING: 'geschlossen' },
    orders: {
      title: 'Orders sind',
      LIVE: { word: 'echt', hint: 'Orders gehen an den Handelsplatz' },
      PAPER: { word: 'Papier', hint: 'Papier: echte Preise, simulierte Ausführungen. Keine Order verlässt das Haus' },
      SIMULATED: { word: 'simuliert', hint: 'Der Handelsplatz ist simuliert, mit seinen Preisen und seinem Geld' },
    },
    proof: {
      title: 'Erprobt',
      OWN_VENUE: { word: 'eigener Platz', hint: 'Teil des Servers' },
      UNPROVEN: { word: 'nicht erprobt', hint: 'an nichts erprobt, er folgt der Dokumentation des Handelsplatzes' },
      PROGRAM: { word: 'nur an einem Programm', hint: 'an einem Programm mit dem Protokoll des Handelsplatzes erprobt, noch nicht am Handelsplatz' },
      LAB: { word: 'nur am Labor', hint: 'am Labor erprobt, noch nicht am Handelsplatz' },
      VENUE: { word: 'Handelsplatz', hint: 'am Handelsplatz erprobt' },
    },
    venue: 'Handelsplatz ist',
    up: 'steht',
    heard: (age) => `vor ${age}`,
    down: 'aus',
    downFor: (age) => `aus seit ${age}`,
    notApart: 'nicht getrennt',
  },
};
