/** How old the state of a venue is that the books here were last compared with. */
export interface Comparison {
  adapter: string;
  /** What was compared: `open-orders`, `fills`, `statement`. */
  scope: string;
  lagSeconds: number;
}
