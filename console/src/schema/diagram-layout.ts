// Places of the boxes and lines of a diagram.
//
// Tables that keys connect are laid out together, each group by dagre; groups and tables without keys are then packed
// into rows, so that a source of many tables has about the form of a screen.

import dagre from '@dagrejs/dagre';
import { findByName } from './catalog';
import type { Catalog, CatalogTable } from './catalog';
import { shownName } from '../metadata/table-name';

/** Columns that boxes show. */
export type Detail = 'names' | 'keys' | 'all';

export interface Box {
  name: string;
  table: CatalogTable;
  x: number;
  y: number;
  width: number;
  height: number;
  lines: { name: string; type: string; isKey: boolean }[];
}

export interface Edge {
  from: string;
  to: string;
  label: string;
  points: { x: number; y: number }[];
}

export interface Layout {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

export const TITLE_HEIGHT = 26;
export const LINE_HEIGHT = 17;
const LETTER = 7.3;
const LETTERS_MAX = 44;
const GAP = 28;

export const cut = (text: string, max = LETTERS_MAX) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/** Lists longer than this end with a word on the rest. */
const LINES_MAX = 40;

function linesOf(table: CatalogTable, detail: Detail): Box['lines'] {
  const keys = new Set([...table.constraints.filter(it => it.kind === 'primary key' || it.kind === 'unique').flatMap(it => it.columns ?? []), ...table.foreignKeys.flatMap(it => it.columns)]);
  const all = table.columns.map(it => ({ name: it.name, type: it.type, isKey: keys.has(it.name) }));
  const shown = detail === 'all' ? all : detail === 'keys' ? all.filter(it => it.isKey) : [];
  if (shown.length <= LINES_MAX) return shown;
  return [...shown.slice(0, LINES_MAX), { name: `… and ${shown.length - LINES_MAX} more`, type: '', isKey: false }];
}

function boxOf(table: CatalogTable, detail: Detail): Box {
  const name = shownName(table);
  const lines = linesOf(table, detail);
  const letters = Math.min(LETTERS_MAX, Math.max(name.length + 1, ...lines.map(it => it.name.length + it.type.length + 2)));
  return { name, table, x: 0, y: 0, width: Math.max(90, Math.round(letters * LETTER) + 20), height: TITLE_HEIGHT + lines.length * LINE_HEIGHT + (lines.length > 0 ? 8 : 0), lines };
}

type Link = Omit<Edge, 'points'>;

/** Names that links connect, in groups. */
function groupsOf(names: string[], links: Link[]): string[][] {
  const parent = new Map(names.map(it => [it, it]));
  const root = (name: string): string => {
    let at = name;
    while (parent.get(at) !== at) {
      parent.set(at, parent.get(parent.get(at)!)!);
      at = parent.get(at)!;
    }
    return at;
  };
  links.forEach(it => parent.set(root(it.from), root(it.to)));
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(root(name), [...(groups.get(root(name)) ?? []), name]);
  return [...groups.values()];
}

interface Group {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

/** A line that leaves and reaches boxes at the sides that face each other, so that it runs between them and not below. */
function fromSideToSide(points: Edge['points'], from: Box, to: Box): Edge['points'] {
  const middle = (it: Box) => it.y + it.height / 2;
  const inner = points.slice(1, -1);
  if (from.x + from.width <= to.x) return [{ x: from.x + from.width, y: middle(from) }, ...inner, { x: to.x, y: middle(to) }];
  if (to.x + to.width <= from.x) return [{ x: from.x, y: middle(from) }, ...inner, { x: to.x + to.width, y: middle(to) }];
  return points;
}

function layoutGroup(boxes: Box[], links: Link[]): Group {
  const [only] = boxes;
  if (boxes.length === 1 && only && links.length === 0) return { boxes: [{ ...only }], edges: [], width: only.width, height: only.height };
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 60, edgesep: 8, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  // Dagre keeps nodes in plain objects, which have members such as `constructor`: names of tables are no names of nodes.
  const nodes = new Map(boxes.map((it, at) => [it.name, `n${at}`]));
  boxes.forEach(it => graph.setNode(nodes.get(it.name)!, { width: it.width, height: it.height }));
  links.forEach((it, at) => graph.setEdge(nodes.get(it.from)!, nodes.get(it.to)!, {}, `e${at}`));
  dagre.layout(graph);
  const placed = boxes.map(it => {
    const node = graph.node(nodes.get(it.name)!) as { x: number; y: number };
    return { ...it, x: node.x - it.width / 2, y: node.y - it.height / 2 };
  });
  const places = new Map(placed.map(it => [it.name, it]));
  const edges = links.map((it, at) => ({ ...it, points: fromSideToSide((graph.edge(nodes.get(it.from)!, nodes.get(it.to)!, `e${at}`) as { points: Edge['points'] }).points, places.get(it.from)!, places.get(it.to)!) }));
  const all = [...placed.flatMap(it => [{ x: it.x, y: it.y }, { x: it.x + it.width, y: it.y + it.height }]), ...edges.flatMap(it => it.points)];
  const left = Math.min(...all.map(it => it.x));
  const top = Math.min(...all.map(it => it.y));
  placed.forEach(it => { it.x -= left; it.y -= top; });
  edges.forEach(edge => { edge.points = edge.points.map(it => ({ x: it.x - left, y: it.y - top })); });
  return { boxes: placed, edges, width: Math.max(...all.map(it => it.x)) - left, height: Math.max(...all.map(it => it.y)) - top };
}

/** A stretch of the lower border of what was placed. */
interface Step {
  x: number;
  width: number;
  y: number;
}

/** The highest place for a group of this width below the border; the leftmost of equal ones. */
function findPlace(border: Step[], width: number, wide: number): { x: number; y: number } {
  let best = { x: 0, y: Infinity };
  border.forEach((step, at) => {
    if (step.x + width > wide) return;
    let y = 0;
    for (let next = at; next < border.length && border[next]!.x < step.x + width; next++) y = Math.max(y, border[next]!.y);
    if (y < best.y) best = { x: step.x, y };
  });
  return best;
}

/** The border with a stretch from `x` on at `y`. */
function lowered(border: Step[], x: number, width: number, y: number): Step[] {
  const left = border.flatMap(it => (it.x < x ? [{ ...it, width: Math.min(it.width, x - it.x) }] : []));
  const right = border.flatMap(it => {
    const from = Math.max(it.x, x + width);
    return from < it.x + it.width ? [{ x: from, width: it.x + it.width - from, y: it.y }] : [];
  });
  return [...left, { x, width, y }, ...right];
}

/** Puts groups into about the form of a screen, the highest first, each as high as there is room. */
function pack(groups: Group[]): Layout {
  const area = groups.reduce((sum, it) => sum + (it.width + GAP) * (it.height + GAP), 0);
  const wide = Math.max(600, Math.sqrt(area * 1.7), ...groups.map(it => it.width + GAP));
  const layout: Layout = { boxes: [], edges: [], width: 0, height: 0 };
  let border: Step[] = [{ x: 0, width: wide, y: 0 }];
  for (const group of [...groups].sort((one, other) => other.height - one.height || other.width - one.width)) {
    const place = findPlace(border, group.width + GAP, wide);
    border = lowered(border, place.x, group.width + GAP, place.y + group.height + GAP);
    const [x, y] = [place.x + GAP, place.y + GAP];
    layout.boxes.push(...group.boxes.map(it => ({ ...it, x: it.x + x, y: it.y + y })));
    layout.edges.push(...group.edges.map(edge => ({ ...edge, points: edge.points.map(it => ({ x: it.x + x, y: it.y + y })) })));
    layout.width = Math.max(layout.width, x + group.width + GAP);
    layout.height = Math.max(layout.height, y + group.height + GAP);
  }
  return layout;
}

/** The diagram of `tables`; a link to a table that is not among them has no line. */
export function layoutOf(catalog: Catalog, tables: CatalogTable[], detail: Detail): Layout {
  const boxes = new Map(tables.map(it => [shownName(it), boxOf(it, detail)]));
  const links: Link[] = tables.flatMap(table => table.foreignKeys.flatMap(key => {
    const target = findByName(catalog, key.table);
    return target && boxes.has(shownName(target)) ? [{ from: shownName(table), to: shownName(target), label: key.columns.join(', ') }] : [];
  }));
  const groups = groupsOf([...boxes.keys()], links).map(names => {
    const inside = new Set(names);
    return layoutGroup(names.map(it => boxes.get(it)!), links.filter(it => inside.has(it.from)));
  });
  return pack(groups);
}

/** A line through the points of an edge, with its corners rounded. */
export function pathOf(points: Edge['points']): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const round = (it: { x: number; y: number }) => `${it.x.toFixed(1)} ${it.y.toFixed(1)}`;
  const parts = [`M ${round(first)}`];
  rest.forEach((it, at) => {
    const next = rest[at + 1];
    parts.push(next ? `Q ${round(it)} ${round({ x: (it.x + next.x) / 2, y: (it.y + next.y) / 2 })}` : `L ${round(it)}`);
  });
  return parts.join(' ');
}
