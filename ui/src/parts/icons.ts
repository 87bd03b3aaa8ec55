/** Icons of buttons and rows, all of one weight; each is a path in a field of 20 by 20. */

export const PATHS = {
  columns: 'M3 4.5h14v11H3z M7.7 4.5v11 M12.3 4.5v11',
  download: 'M10 3v9.5 M6 9l4 4 4-4 M3.5 16.5h13',
  menu: 'M3.5 5.5h13 M3.5 10h13 M3.5 14.5h13',
  close: 'M5 5l10 10 M15 5L5 15',
  '✕': 'M5 5l10 10 M15 5L5 15',
  edit: 'M4 16l.8-3.2L13 4.600l2.400 2.400L7.200 15.200z',
  half: 'M4 16L16 4 M5.500 4v4.500 M12 12h3.500v2L12 16.500h3.500',
  eject: 'M4.500 11L10 5l5.500 6z M4.500 15h11',
  again: 'M15.500 10a5.500 5.500 0 1 1-1.800-4.100 M14 3v3.200h-3.200',
  play: 'M6.500 4.500l9 5.500-9 5.500z',
  stop: 'M5.500 5.500h9v9h-9z',
  flag: 'M5 17V3.500h10l-2.500 3.500 2.500 3.500H5',
  list: 'M7.500 5.500h9 M7.500 10h9 M7.500 14.500h9 M3.500 5.500h.5 M3.500 10h.5 M3.500 14.500h.5',
};

export type IconName = keyof typeof PATHS;

const SVG = 'http://www.w3.org/2000/svg';

/** For what is drawn without a component. */
export function iconElement(name: IconName): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'path');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', 'icon-line');
  svg.setAttribute('aria-hidden', 'true');
  line.setAttribute('d', PATHS[name]);
  svg.append(line);
  return svg;
}
