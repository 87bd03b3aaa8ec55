import type { admin as english } from './admin.en';

export const admin: typeof english = {
  role: { VIEWER: 'Leser', TRADER: 'Händler', STRATEGY: 'Strategie', ADMIN: 'Verwalter' },
  users: {
    users: 'Benutzer',
    tokens: 'API-Schlüssel',
    noUsers: 'Keine Benutzer: auf diesem Rechner darf jeder alles',
    noTokens: 'Keine Schlüssel',
    addUser: 'Benutzer anlegen',
    addToken: 'Schlüssel erzeugen',
    remove: 'Entfernen',
    removeTitle: (name) => `${name} entfernen?`,
    removeText: 'Wer ihn benutzt, wird von jetzt an abgewiesen.',
    name: 'Name',
    password: 'Passwort',
    role: 'Rolle',
    strategy: 'Strategie',
    days: 'Gültig für Tage',
    daysHint: 'Leer: 90 Tage',
    made: (name) => `Schlüssel ${name}`,
    madeText: 'Jetzt kopieren: er wird nie wieder gezeigt.',
    adminFirst: 'Der erste Benutzer muss ein Verwalter sein. Sobald es ihn gibt, muss sich jeder anmelden, auch Sie.',
    adminMissing: 'Noch ist kein Benutzer ein Verwalter, also muss es der nächste sein.',
  },
  audit: { empty: 'Noch nichts abgewiesen und nichts verwaltet', refresh: 'Neu laden' },
  parameters: { empty: 'Keine Parameter', refresh: 'Neu laden' },
};
