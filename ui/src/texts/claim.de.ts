import type { external as english } from './claim.en';

export const external: typeof english = {
  claim: {
    tag: 'FREMD',
    hint: 'Fremd: nicht hier aufgegeben',
    claim: 'Übernehmen',
    title: (intId) => `Order ${intId} übernehmen?`,
    explain: (order, filled) =>
      `${order}, davon ${filled} ausgeführt, wurde nicht hier aufgegeben. Von jetzt an gehört sie der Strategie: jede Ausführung wird unter EXTERNAL zurückgenommen und für die Strategie neu gebucht, zu ihrem Preis und mit ihren Kosten.`,
    choose: 'Wählen…',
    claimed: (intId, strategy) => `Order ${intId} gehört ${strategy}`,
    notExternal: 'sie wurde hier aufgegeben',
    noChange: 'sie wurde nicht hier aufgegeben: sie lässt sich nur streichen',
  },
};
