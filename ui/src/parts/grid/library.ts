/** Set-up of the grid library: only the needed modules (each costs kilobytes), and a theme made of the screen's tokens. */

import {
  CellStyleModule,
  ClientSideRowModelApiModule,
  ClientSideRowModelModule,
  ColumnApiModule,
  CsvExportModule,
  EventApiModule,
  ExternalFilterModule,
  ModuleRegistry,
  RenderApiModule,
  RowApiModule,
  ScrollApiModule,
  createTheme,
} from 'ag-grid-community';

const SVG = 'http://www.w3.org/2000/svg';

ModuleRegistry.registerModules([
  ClientSideRowModelModule,
  ClientSideRowModelApiModule,
  RowApiModule,
  ColumnApiModule,
  CsvExportModule,
  ExternalFilterModule,
  CellStyleModule,
  ScrollApiModule,
  EventApiModule,
  RenderApiModule,
]);

/** The only icon of the library that is visible. */
export const icons = { sortAscending: () => sortSign('M5 13l5-6 5 6'), sortDescending: () => sortSign('M5 7l5 6 5-6') };

function sortSign(path: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'path');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', 'sort-sign');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

export const ROW_HEIGHT = 26;
export const HEADER_HEIGHT = 28;

/** No look of the library's own: it would cost a dozen kilobytes of icons and controls that are nowhere in sight. */
export const theme = createTheme().withParams({
  fontFamily: 'var(--font)',
  fontSize: 'var(--text-s)',
  headerFontSize: 'var(--text-xs)',
  headerFontWeight: 500,
  headerTextColor: 'var(--text-2)',
  foregroundColor: 'var(--text)',
  textColor: 'var(--text)',
  backgroundColor: 'var(--surface)',
  headerBackgroundColor: 'var(--surface-2)',
  oddRowBackgroundColor: 'var(--surface)',
  rowHoverColor: 'var(--surface-2)',
  accentColor: 'var(--accent)',
  borderColor: 'var(--line)',
  rowBorder: { color: 'var(--surface-3)' },
  wrapperBorder: false,
  wrapperBorderRadius: 0,
  headerColumnBorder: false,
  headerColumnResizeHandleColor: 'var(--line)',
  cellHorizontalPadding: 5,
  iconSize: 12,
  spacing: 4,
  focusShadow: '0 0 0 2px var(--accent)',
  browserColorScheme: 'inherit',
});
