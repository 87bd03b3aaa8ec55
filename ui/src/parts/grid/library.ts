/** The grid library as we use it: only the modules we need (each costs kilobytes), and a theme made of our tokens. */

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
  themeQuartz,
} from 'ag-grid-community';

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

export const ROW_HEIGHT = 26;
export const HEADER_HEIGHT = 28;

export const theme = themeQuartz.withParams({
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
